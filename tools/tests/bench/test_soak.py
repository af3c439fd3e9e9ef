from dataclasses import replace

from headrace.tools.bench.soak import CHARTS, Sample, curves_of, flat_bars

SAMPLE = Sample(
    seconds=1,
    rate=10,
    median_ms=1,
    p99_ms=2,
    table_mib=3,
    index_mib=4,
    num_dead=5,
    num_waiting=6,
    wal_bytes=7,
    worker_mib=8,
)


def test_what_stays_as_it_is_counts_as_flat() -> None:
    assert all(bar.is_met for bar in flat_bars([SAMPLE] * 9))


def test_what_grows_in_the_last_third_is_named() -> None:
    grown = [SAMPLE] * 6 + [replace(SAMPLE, worker_mib=80.0)] * 3
    assert [bar.what.split(",")[0] for bar in flat_bars(grown) if not bar.is_met] == ["soak: worker_mib"]


def test_what_the_first_third_shows_is_left_aside() -> None:
    settled = [replace(SAMPLE, table_mib=0.1)] * 3 + [SAMPLE] * 6
    assert all(bar.is_met for bar in flat_bars(settled))


def test_every_chart_has_its_curves() -> None:
    assert {curve.chart for curve in curves_of([SAMPLE])} == {chart for chart, _, _ in CHARTS}
