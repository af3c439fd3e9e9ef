from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError
from headrace.tools.dev.routes import ROUTES, spread
from headrace.tools.dev.samples import FOLDER, load_samples

EXAMPLES = Path(__file__).parents[3] / FOLDER


def test_samples_come_in_the_order_of_their_numbers_and_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "02-b.done.json").write_bytes(b'{"b": 1.0}\r\n')
    (tmp_path / "01-a.json").write_bytes(b"{}")
    (tmp_path / "README.md").write_text("no sample", encoding="ascii")
    (tmp_path / "unnumbered.json").write_text("{}", encoding="ascii")
    first, second = load_samples(tmp_path)
    assert (first.event_type, second.event_type, second.body) == ("a", "b.done", b'{"b": 1.0}\r\n')


def test_a_folder_without_samples_is_told(tmp_path: Path) -> None:
    with pytest.raises(DevServerError, match="There are no samples"):
        load_samples(tmp_path / "missing")


def test_every_sample_of_the_repository_goes_to_exactly_one_route_and_every_route_gets_one() -> None:
    events = [sample.event_type for sample in load_samples(EXAMPLES)]
    routes = spread(events)
    assert sorted(event for taken in routes.values() for event in taken) == sorted(events)
    assert all(routes[route.name] for route in ROUTES)


def test_events_that_routes_name_exist_in_the_repository() -> None:
    events = {sample.event_type for sample in load_samples(EXAMPLES)}
    assert {event for route in ROUTES for event in route.event_types} <= events


def test_a_new_sample_goes_to_the_route_that_takes_the_rest() -> None:
    assert spread(["brand.new"])["ok"] == ("brand.new",)
