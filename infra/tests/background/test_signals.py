from datetime import timedelta
from pathlib import Path

import pytest

from headrace.infra.background.signals import (
    FileHealthcheck,
    FileHeartbeat,
    FileReadiness,
    ReadinessState,
    read_boot_id,
)
from headrace.infra.background.timing import ManualClockImpl
from headrace.infra.exceptions import ConfigurationInvalid

MAX_AGE = timedelta(seconds=10)


class Signals:
    """One process's files and the probe that reads them, on one clock."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClockImpl()
        self.heartbeat_path, self.readiness_path = folder / "heartbeat", folder / "ready"
        self.heartbeat = self.heartbeat_of("this-boot")
        self.readiness = FileReadiness(self.readiness_path)
        self.probe = FileHealthcheck(
            heartbeat_path=self.heartbeat_path,
            readiness_path=self.readiness_path,
            max_age=MAX_AGE,
            clock=self.clock,
            boot_id="this-boot",
        )

    def heartbeat_of(self, boot_id: str) -> FileHeartbeat:
        return FileHeartbeat(self.heartbeat_path, clock=self.clock, boot_id=boot_id)


@pytest.fixture
def signals(tmp_path: Path) -> Signals:
    return Signals(tmp_path)


def test_the_probe_succeeds_with_marker_and_fresh_heartbeat(signals: Signals) -> None:
    signals.heartbeat.beat()
    signals.readiness.mark_ready()
    signals.clock.advance(MAX_AGE)
    assert signals.probe.readiness_problems() == ()
    assert signals.probe.liveness_problems() == ()


def test_readiness_fails_without_the_marker_though_the_heart_beats(signals: Signals) -> None:
    signals.heartbeat.beat()
    assert "no readiness marker" in signals.probe.readiness_problems()[0]
    assert signals.probe.liveness_problems() == ()


def test_readiness_fails_with_a_marker_that_a_dead_process_left(signals: Signals) -> None:
    signals.heartbeat.beat()
    signals.readiness.mark_ready()
    signals.clock.advance(MAX_AGE + timedelta(seconds=1))
    (problem,) = signals.probe.readiness_problems()
    assert "is 11.0 s old, expected 0 to 10 s" in problem


def test_a_heartbeat_of_the_future_is_never_fresh(signals: Signals) -> None:
    signals.heartbeat.beat()
    signals.clock.advance(timedelta(seconds=-1))
    assert "-1.0 s old" in signals.probe.liveness_problems()[0]


def test_a_heartbeat_of_an_earlier_boot_is_never_fresh(signals: Signals) -> None:
    signals.heartbeat_of("earlier-boot").beat()
    assert "earlier boot" in signals.probe.liveness_problems()[0]


@pytest.mark.parametrize("content", [b"", b"this-boot", b"this-boot nan", b"this-boot 1e300", b"a b c", b"\xff \xfe"])
def test_a_heartbeat_that_makes_no_sense_is_a_problem_and_no_error(signals: Signals, content: bytes) -> None:
    signals.heartbeat_path.write_bytes(content)
    assert len(signals.probe.liveness_problems()) == 1


def test_both_signals_are_gone_when_taken_back_twice(signals: Signals) -> None:
    signals.heartbeat.beat()
    signals.readiness.mark_ready()
    for _ in range(2):
        signals.heartbeat.clear()
        signals.readiness.mark_unready("stopping")
    assert len(signals.probe.readiness_problems()) == 2
    assert list(signals.heartbeat_path.parent.iterdir()) == []


def test_two_processes_of_a_host_agree_by_default_on_clock_and_boot(tmp_path: Path) -> None:
    FileHeartbeat(tmp_path / "heartbeat").beat()
    FileReadiness(tmp_path / "ready").mark_ready()
    probe = FileHealthcheck(
        heartbeat_path=tmp_path / "heartbeat", readiness_path=tmp_path / "ready", max_age=timedelta(minutes=5)
    )
    assert probe.readiness_problems() == ()
    assert read_boot_id() == read_boot_id() != ""


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "heartbeat"
    with pytest.raises(ConfigurationInvalid, match=f"cannot write {missing}"):
        FileHeartbeat(missing).beat()


def test_readiness_in_memory_tells_its_reason_until_ready() -> None:
    state = ReadinessState()
    assert state.problems() == ("the process has not started",)
    state.mark_ready()
    assert state.problems() == ()
    state.mark_unready("the process is stopping")
    assert state.problems() == ("the process is stopping",)
