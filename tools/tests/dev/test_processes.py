import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.processes import Launch, PidRecord, ProcessMark, is_running, log_tail, send, stop

SOON = timedelta(seconds=10)
AT_ONCE = timedelta(milliseconds=50)
OURSELVES = replace(server_identity(), is_dropped=False)
OWN = ProcessMark(pid=os.getpid(), started="long ago")


def test_a_mark_is_alive_when_its_process_runs(bystander: ProcessMark) -> None:
    assert bystander.is_alive()


def test_a_mark_is_not_alive_when_a_later_process_has_its_pid(bystander: ProcessMark) -> None:
    assert not replace(bystander, started="long ago").is_alive()


def test_there_is_no_mark_when_there_is_no_process() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert ProcessMark.of(process.pid) is None


def test_there_is_no_mark_when_a_process_ended_and_nobody_has_waited_for_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert ProcessMark.of(process.pid) is None


def test_a_foreign_process_is_left_alone_when_a_stale_mark_has_its_pid(bystander: ProcessMark) -> None:
    stop(replace(bystander, started="long ago"), signals=[signal.SIGKILL], patience=SOON)
    send(replace(bystander, started="long ago"), signal.SIGKILL)
    assert bystander.is_alive()


def test_the_next_signal_is_tried_when_one_does_not_end_the_process(tmp_path: Path) -> None:
    mark = deaf_process(tmp_path)
    stop(mark, signals=[signal.SIGURG, signal.SIGKILL], patience=AT_ONCE)
    assert not is_running(mark)


def test_stopping_says_so_when_the_process_survives_every_signal(tmp_path: Path) -> None:
    mark = deaf_process(tmp_path)
    with pytest.raises(DevServerError, match=f"Process {mark.pid} did not end after SIGURG"):
        stop(mark, signals=[signal.SIGURG], patience=AT_ONCE)
    stop(mark, signals=[signal.SIGKILL], patience=SOON)


def test_starting_says_so_when_the_program_is_missing(tmp_path: Path) -> None:
    launch = Launch(argv=[tmp_path / "none"], identity=OURSELVES, log=tmp_path / "log", environment={})
    with pytest.raises(DevServerError, match=r"none cannot be executed: No such file or directory\."):
        launch.start()


def test_a_pid_file_says_what_was_written_when_read(tmp_path: Path, bystander: ProcessMark) -> None:
    record = PidRecord(server=bystander, owner=None, port=5)
    record.write(tmp_path / "server.pid")
    assert PidRecord.read(tmp_path / "server.pid") == record


def test_a_pid_file_counts_as_none_when_its_server_is_gone(tmp_path: Path) -> None:
    PidRecord(server=OWN, owner=None, port=5).write(tmp_path / "server.pid")
    assert PidRecord.read(tmp_path / "server.pid") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "17", '{"server": {"pid": 1}}', '{"owner": null}'])
def test_a_pid_file_counts_as_none_when_it_cannot_be_understood(tmp_path: Path, content: str) -> None:
    (tmp_path / "server.pid").write_text(content)
    assert PidRecord.load(tmp_path / "server.pid") is None


@pytest.mark.parametrize(("content", "tail"), [("one\ntwo\n", "one | two"), ("", "its log is empty")])
def test_the_log_comes_on_one_line_when_asked_for(tmp_path: Path, content: str, tail: str) -> None:
    (tmp_path / "log").write_text(content)
    assert log_tail(tmp_path / "log") == tail


def deaf_process(folder: Path) -> ProcessMark:
    """Starts a process that SIGURG does not end."""
    return Launch(
        argv=[sys.executable, "-c", "import signal; signal.pause()"],
        identity=OURSELVES,
        log=folder / "log",
        environment={},
    ).start()
