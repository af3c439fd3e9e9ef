import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError
from headrace.tools.dev.orphans import remove_orphans, stop_servers
from headrace.tools.dev.processes import PID_FILE, PidRecord, ProcessMark
from headrace.tools.dev.state import PASSABLE
from tests.fixtures.servers import NewServerFolder

START_AND_DIE = """
import os, signal, sys
from pathlib import Path
from headrace.tools.dev import RedisServer
RedisServer(Path(sys.argv[1]), is_persistent=sys.argv[2] == "persistent").start()
os.kill(os.getpid(), signal.SIGKILL)
"""


def leave_server(folder: Path, *, is_persistent: bool = False) -> ProcessMark:
    """Has another process start a server and die without stopping it."""
    argv: list[str | Path] = [sys.executable, "-c", START_AND_DIE, folder, "persistent" if is_persistent else "owned"]
    subprocess.run(argv, check=False, timeout=30)  # noqa: S603 - fixed argv, no shell
    record = PidRecord.read(folder / PID_FILE)
    assert record is not None
    return record.server


@pytest.fixture
def root(new_server_folder: NewServerFolder) -> Path:
    """An empty folder for server folders."""
    return new_server_folder("orphans")


@pytest.mark.servers
def test_a_server_and_its_folder_are_removed_when_its_owner_was_killed(root: Path) -> None:
    server = leave_server(root / "left")

    assert remove_orphans(root) == 1

    assert not server.is_alive()
    assert not (root / "left").exists()


@pytest.mark.servers
def test_a_server_is_left_alone_when_it_was_to_stay_and_ended_when_asked_to_stop_all(root: Path) -> None:
    server = leave_server(root / "stays", is_persistent=True)

    assert remove_orphans(root) == 0
    assert server.is_alive()

    assert stop_servers(root) == ["stays"]
    assert not server.is_alive()


def test_a_server_is_left_alone_when_its_owner_lives(root: Path, bystander: ProcessMark) -> None:
    own_record(root / "used", owner=bystander, server=bystander)
    assert remove_orphans(root) == 0


def test_stopping_all_says_who_uses_a_server_when_its_owner_lives(root: Path, bystander: ProcessMark) -> None:
    own_record(root / "used", owner=bystander, server=bystander)
    with pytest.raises(DevServerError, match=f"The server used is in use by process {bystander.pid}"):
        stop_servers(root)
    assert bystander.is_alive()


def own_record(folder: Path, *, owner: ProcessMark, server: ProcessMark) -> None:
    folder.mkdir(mode=PASSABLE)
    PidRecord(server=server, owner=owner, port=1).write(folder / PID_FILE)
