import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from headrace.tools.bench.bars import bars_of, peer_bars
from headrace.tools.bench.markdown import tables
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.report import Bar, Curve, Point, Report, told


@pytest.mark.parametrize(
    ("value", "text"), [(12_345.6, "12,346"), (99.94, "99.9"), (1.2345, "1.23"), (0.01234, "0.0123"), (0.0, "0")]
)
def test_three_digits_of_a_number_are_told(value: float, text: str) -> None:
    assert told(value) == text


def test_every_sample_is_in_the_file(tmp_path: Path) -> None:
    report = Report("r", {"versions": {"python": "3"}}, [Measure("rate", "items/s", (1.0, 2.0))])
    report.curves.append(Curve("chart", "label", "x", "y", (Point(1.0, (2.0,)),)))
    report.write(tmp_path / "new" / "r.json")
    read = json.loads((tmp_path / "new" / "r.json").read_text(encoding="utf-8"))
    assert read["measures"][0]["samples"] == [1.0, 2.0]
    assert read["curves"][0]["points"] == [{"x": 1.0, "samples": [2.0]}]
    assert read["circumstances"] == {"versions": {"python": "3"}}


def test_a_report_becomes_markdown() -> None:
    circumstances = {
        "machine": {"num_cores": 2, "processor": "p", "memory_mib": 1024, "load_before": 0.1},
        "versions": {"python": "3.13", "commit": "abc"},
        "postgres": {"server_version": "15", "fsync": "on", "synchronous_commit": "on"},
    }
    report = Report("r", circumstances, [Measure("rate", "items/s", (1.0,)), Measure("no", "", (1.0,), is_detail=True)])
    report.bars.append(Bar("a bar", 1.0, "x", ">= 1 x", is_met=True))
    lines = tables(report.as_json()).splitlines()
    assert "| a bar | 1.00 x | >= 1 x | yes |" in lines
    assert lines[-1] == "| rate | headrace | 1.00 | 1.00 | 1.00 | 1 | items/s |"


def test_details_are_left_out_of_the_table() -> None:
    report = Report("r", measures=[Measure("shown", "", (1.0,)), Measure("hidden", "", (1.0,), is_detail=True)])
    report.bars.append(Bar("a bar", 1.0, "x", ">= 1 x", is_met=True))
    report.remarks.append("a peer [is] left out")
    written = StringIO()
    report.show(Console(width=100, file=written))
    text = written.getvalue()
    assert "shown" in text
    assert "hidden" not in text
    assert "a peer [is] left out" in text


def test_a_bar_is_not_met_below_its_ratio() -> None:
    measures = [
        Measure("enqueue one by one", "items/s", (8.0, 8.0)),
        Measure("a bare INSERT in its own transaction", "items/s", (10.0, 10.0)),
    ]
    (bar,) = bars_of(measures)
    assert bar.value == pytest.approx(0.8)
    assert bar.is_met is False


def test_an_amount_is_met_up_to_its_bound() -> None:
    (bar,) = bars_of([Measure("idle worker: share of a core", "%", (1.0,))])
    assert bar.is_met is True


def test_a_peers_time_is_to_be_undercut_and_its_rate_exceeded() -> None:
    ours = [Measure("drain: rate", "items/s", (15.0,)), Measure("pick-up at rest: p50", "ms", (2.0,))]
    theirs = [
        Measure("drain: rate", "items/s", (10.0,), "pgqueuer"),
        Measure("pick-up at rest: p50", "ms", (2.0,), "pgqueuer"),
    ]
    assert [bar.is_met for bar in peer_bars(ours, theirs)] == [True, False]


def test_a_ratio_without_a_bound_is_told_without_a_judgement() -> None:
    ours, theirs = [Measure("drain: WAL", "bytes/item", (1.0,))], [Measure("drain: WAL", "bytes/item", (2.0,), "other")]
    assert [(bar.value, bar.is_met) for bar in peer_bars(ours, theirs)] == [(0.5, None)]
