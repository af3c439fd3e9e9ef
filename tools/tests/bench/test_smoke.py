import pytest

from headrace.tools.bench.smoke import run_smoke


@pytest.mark.processes
@pytest.mark.timeout(120)
async def test_every_item_of_a_short_run_is_picked_up(pytestconfig: pytest.Config) -> None:
    report = await run_smoke(pytestconfig.rootpath, num_items=10, idle_seconds=1)
    found = {each.name: each for each in report.measures}
    assert len(found["pick-up at rest"].samples) == 10
    assert found["pick-up at rest"].minimum > 0
    assert found["idle worker: memory"].median > 0
