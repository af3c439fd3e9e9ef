import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError
from headrace.tools.dev.processes import PidRecord, ProcessMark
from headrace.tools.dev.supervisor import Places, Program, Supervisor, end_stale, supervising

pytestmark = pytest.mark.processes

PATIENCE = timedelta(seconds=20)

SERVER = """
import http.server, os, signal, sys
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-length", "0"); self.end_headers()
    def log_message(self, *args): pass
def stop(number, frame):
    open("stopped", "a").write(sys.argv[1] + chr(10)); sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN if "stubborn" in sys.argv else stop)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Ready).serve_forever()
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(logs=tmp_path / "logs", pids=tmp_path / "pids")


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Program]:
    """Makes programs that are ready as soon as they serve and that write down when they are asked to stop."""

    def made(name: str, *, code: str = SERVER, argv: tuple[str, ...] = (), port: int | None = None) -> Program:
        command = (sys.executable, "-c", code, name, *argv)
        return Program(name, command, dict(os.environ), port_variable="PORT", folder=tmp_path, port=port)

    return made


@asynccontextmanager
async def running(places: Places, *programs: Program) -> AsyncIterator[tuple[Supervisor, list[str]]]:
    said: list[str] = []
    async with supervising(programs, places, said.append) as supervisor:
        await supervisor.ready(PATIENCE)
        yield supervisor, said


async def test_programs_run_until_the_body_ends_and_stop_in_reverse_order(
    places: Places, program: Callable[..., Program], tmp_path: Path
) -> None:
    async with running(places, program("one"), program("two")) as (supervisor, said):
        records = [PidRecord.read(places.pid_file(name)) for name in ("one", "two")]
        assert [record and record.server.pid for record in records] == [each.pid for each in supervisor.supervised]
        assert all(record is not None and not record.is_orphan() for record in records)
    assert (tmp_path / "stopped").read_text(encoding="ascii").split() == ["two", "one"]
    assert not any(record.server.is_alive() for record in records if record)
    assert list(places.pids.iterdir()) == []
    assert said == []


async def test_a_program_that_dies_is_started_again(places: Places, program: Callable[..., Program]) -> None:
    async with running(places, program("one")) as (supervisor, said):
        [one] = supervisor.supervised
        first = one.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while one.pid in {first, None}:  # noqa: ASYNC110 - the supervisor tells nobody
                await asyncio.sleep(0.01)
        await supervisor.ready(PATIENCE)
    assert said == ["one ended with -9; it starts again in 0.5 s"]


async def test_a_program_that_never_becomes_ready_ends_the_body_with_its_last_words(
    places: Places, program: Callable[..., Program], tmp_path: Path
) -> None:
    bad = program("bad", code="import sys; sys.exit('lease: expected more')")
    with pytest.raises(DevServerError, match=r"bad does not start; its log .* ends: lease: expected more"):
        async with running(places, program("good"), bad):
            pytest.fail("the body must not begin")
    assert (tmp_path / "stopped").read_text(encoding="ascii").split() == ["good"]


async def test_a_program_that_cannot_be_executed_is_told(places: Places, tmp_path: Path) -> None:
    missing = Program("missing", (str(tmp_path / "none"),), {}, port_variable="PORT", folder=tmp_path)
    with pytest.raises(DevServerError, match="cannot be executed: No such file"):
        async with running(places, missing):
            pytest.fail("the body must not begin")


async def test_a_busy_port_is_told(places: Places, program: Callable[..., Program]) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(DevServerError, match=f"Port {port} is busy, so one cannot listen there"):
            async with running(places, program("one", port=port)):
                pytest.fail("the body must not begin")


async def test_a_program_that_is_too_slow_to_get_ready_is_told(places: Places, program: Callable[..., Program]) -> None:
    idle = program("idle", code="import time; time.sleep(60)")
    with pytest.raises(DevServerError, match="idle is not ready in time"):
        async with supervising([idle], places, print) as supervisor:
            await supervisor.ready(timedelta(milliseconds=300))


async def test_hurrying_ends_a_program_that_ignores_sigterm(places: Places, program: Callable[..., Program]) -> None:
    async with running(places, program("stubborn", argv=("stubborn",))) as (supervisor, _):
        pid = supervisor.supervised[0].pid
        assert pid is not None
        mark = ProcessMark.of(pid)
        supervisor.hurry()
    assert mark is not None
    assert not mark.is_alive()


async def test_an_error_of_the_body_stops_the_programs(
    places: Places, program: Callable[..., Program], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with running(places, program("one")):
            raise ValueError("mine")
    assert (tmp_path / "stopped").exists()


def orphaned(places: Places) -> subprocess.Popen[bytes]:
    """A process that a killed command left behind, with its pid file."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    mark = ProcessMark.of(process.pid)
    assert mark is not None
    places.pids.mkdir()
    gone = ProcessMark(pid=mark.pid, started="before")
    PidRecord(server=mark, owner=gone, port=1).write(places.pid_file("lost"))
    return process


def test_what_a_killed_command_left_behind_is_ended(places: Places) -> None:
    with orphaned(places) as process:
        assert end_stale(places) == ["lost"]
        assert process.wait(timeout=10) == -signal.SIGTERM
    assert end_stale(places) == []


def test_what_a_running_command_keeps_is_left_alone(places: Places, bystander: ProcessMark) -> None:
    places.pids.mkdir()
    PidRecord(server=bystander, owner=bystander, port=1).write(places.pid_file("busy"))
    with pytest.raises(
        DevServerError, match=f"The worker busy of this working tree runs under process {bystander.pid}"
    ):
        end_stale(places)
    assert bystander.is_alive()


def test_a_pid_file_of_another_process_ends_nothing(places: Places, bystander: ProcessMark) -> None:
    places.pids.mkdir()
    recycled = ProcessMark(pid=bystander.pid, started="long ago")
    PidRecord(server=recycled, owner=recycled, port=1).write(places.pid_file("old"))
    assert end_stale(places) == []
    assert bystander.is_alive()
    assert list(places.pids.iterdir()) == []
