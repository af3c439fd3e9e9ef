import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from headrace.infra.background.runtime import ExitCode
from headrace.infra.background.signals import FileHealthcheck

pytestmark = pytest.mark.processes
PROGRAM = Path(__file__).with_name("signal_process.py")

type Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def begin(
        behaviour: str = "obeys", *, shutdown_seconds: float = 30, loop: str = "asyncio"
    ) -> subprocess.Popen[str]:
        argv = [sys.executable, str(PROGRAM), str(tmp_path), behaviour, str(shutdown_seconds), loop]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603 - our own program
        started.append(process)
        return process

    yield begin
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def probe(tmp_path: Path) -> FileHealthcheck:
    return FileHealthcheck(
        heartbeat_path=tmp_path / "heartbeat", readiness_path=tmp_path / "ready", max_age=timedelta(seconds=50)
    )


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_stops_gracefully_with_exit_0(start: Start, sent: signal.Signals, loop: str) -> None:
    process = start(loop=loop)
    assert heard(process) == "working"
    process.send_signal(sent)
    assert process.communicate()[0].splitlines() == ["stop seen", "closed"]
    assert process.returncode == ExitCode.CLEAN


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_second_signal_ends_the_process_at_once(start: Start, loop: str) -> None:
    process = start("ignores-stop", loop=loop)
    assert heard(process) == "working"
    process.send_signal(signal.SIGTERM)
    assert heard(process) == "stop seen"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == ExitCode.SECOND_SIGNAL


def test_a_late_stop_ends_with_its_code(start: Start) -> None:
    process = start("ignores-stop", shutdown_seconds=0.05)
    assert heard(process) == "working"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == ExitCode.SHUTDOWN_TIMEOUT


def test_a_signal_during_the_start_ends_it_with_exit_0(start: Start) -> None:
    process = start("hangs-in-start")
    assert heard(process) == "starting"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == ExitCode.CLEAN


@pytest.mark.parametrize(
    ("behaviour", "code"), [("fails", ExitCode.TASK_FAILED), ("fails-in-start", ExitCode.START_FAILED)]
)
def test_a_failure_ends_the_process_with_its_code(start: Start, behaviour: str, code: ExitCode) -> None:
    process = start(behaviour)
    process.communicate()
    assert process.returncode == code


def test_the_file_probe_follows_the_process_s_life(start: Start, probe: FileHealthcheck) -> None:
    assert probe.readiness_problems()
    process = start()
    assert heard(process) == "working"
    assert probe.readiness_problems() == ()
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert len(probe.readiness_problems()) == 2


def test_a_killed_process_s_marker_does_not_outlive_the_start_of_the_next(start: Start, tmp_path: Path) -> None:
    killed = start()
    assert heard(killed) == "working"
    killed.kill()
    killed.communicate()
    assert (tmp_path / "ready").exists()
    assert heard(start("hangs-in-start")) == "starting"
    assert not (tmp_path / "ready").exists()
    assert not (tmp_path / "heartbeat").exists()
