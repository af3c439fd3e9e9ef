import pytest

from headrace.tools.bench.smoke import Smoke, run_smoke


def test_the_median_and_the_share_are_told() -> None:
    rows = dict(Smoke([float(each) for each in range(1, 102)], 0.0123).rows())
    assert rows["pick-up, median"] == "51.0 ms"
    assert rows["idle worker, share of a core"] == "1.23 %"


@pytest.mark.processes
@pytest.mark.timeout(120)
async def test_every_item_of_a_short_run_is_picked_up(pytestconfig: pytest.Config) -> None:
    result = await run_smoke(pytestconfig.rootpath, num_items=10, idle_seconds=1)
    assert len(result.pick_up_ms) == 10
    assert min(result.pick_up_ms) > 0
