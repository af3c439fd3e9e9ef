"""The console script as a process of its own, over a real database."""

import json
import os
import pty
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from headrace.tools.dev import PostgresServer
from headrace.tools.dev.waiting import holds_within
from headrace.workers.console.local_env import set_variables
from headrace.workers.console.settings import LOCAL_ENV_FILE
from tests.fixtures.database import migrated_database

pytestmark = [pytest.mark.servers, pytest.mark.processes]

PROGRAM = str(Path(sys.executable).parent / "headrace")

ADD_ENDPOINT = ("webhooks", "endpoint", "add", "https://example.com/")
SECRETS = {"HEADRACE_SECRETS_DIR": "secrets"}


def environment(**more: str) -> dict[str, str]:
    # Buffered, as everywhere but where a developer has it otherwise.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEADRACE_", "PYTHONUNBUFFERED"))}
    return {**kept, **more}


def run(*args: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own program
        [PROGRAM, *args], capture_output=True, check=False, env=environment(**more), timeout=50
    )


def written_to(output: BinaryIO) -> subprocess.CompletedProcess[bytes]:
    argv = [PROGRAM, "worker", "list"]
    return subprocess.run(  # noqa: S603 - our own program
        argv, stdout=output, stderr=subprocess.PIPE, check=False, env=environment(), timeout=50
    )


@pytest.fixture
def local_file(postgres_server: PostgresServer) -> Path:
    """What a local run leaves for other terminals, over a migrated database, with a seeded key."""
    set_variables(LOCAL_ENV_FILE, migrated_database(postgres_server).environment())
    seeded = run("seed", "--store", str(LOCAL_ENV_FILE))
    assert seeded.returncode == 0, seeded.stderr
    return LOCAL_ENV_FILE


def test_another_terminal_works_by_the_local_file_alone(local_file: Path) -> None:
    assert local_file.stat().st_mode & 0o777 == 0o600
    status = run("status", "--json")
    assert (status.returncode, status.stderr) == (0, b"")
    assert json.loads(status.stdout)["org"]["name"] == "local"


def test_odd_bytes_on_the_command_line_are_refused_in_a_sentence(local_file: Path) -> None:
    assert local_file.exists()
    said = subprocess.run(  # noqa: S603 - our own program
        [os.fsencode(PROGRAM), b"work", b"enqueue", b"NOOP", b"--key", b"\xff\xfe"],
        capture_output=True, check=False, env=environment(PYTHONIOENCODING="ascii"), timeout=50,
    )  # fmt: skip
    assert said.returncode == 2
    assert b"idempotency_key" in said.stderr
    assert b"Traceback" not in said.stderr


def test_an_encoding_without_the_character_shows_an_escape(local_file: Path) -> None:
    assert local_file.exists()
    added = run(*ADD_ENDPOINT, "--name", "界", PYTHONIOENCODING="ascii", PYTHONUTF8="0", **SECRETS)
    assert added.returncode == 0, added.stderr
    assert b"\\u754c" in added.stdout


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        said = written_to(closed)
    assert (said.returncode, said.stderr) == (141, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_does_its_work_when_its_streams_are_closed(closed: str) -> None:
    argv = ["/bin/sh", "-c", f'exec "$0" worker list {closed}', PROGRAM]
    said = subprocess.run(argv, capture_output=True, check=False, env=environment(), timeout=50)  # noqa: S603 - fixed
    assert (said.returncode, said.stderr) == (0, b"")


def test_a_full_disk_is_told_in_a_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        said = written_to(full)
    assert said.returncode == 1
    assert b"No space left" in said.stderr
    assert b"Traceback" not in said.stderr


def test_without_any_settings_one_sentence_says_what_to_do() -> None:
    said = run("status")
    assert said.returncode == 1
    assert said.stderr.count(b"\n") == 1
    assert b"make run" in said.stderr


def test_ctrl_c_while_reading_standard_input_ends_with_130(local_file: Path) -> None:
    assert local_file.exists()
    # A process group of its own, as a shell gives it; the read begins only once the start is over.
    process = subprocess.Popen(  # noqa: S603 - our own program
        [PROGRAM, "webhooks", "publish", "--event", "a", "--data", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    _wait_until_reading(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=50)
    assert (process.returncode, b"Traceback" in said) == (130, False)


def test_a_terminal_gets_colours_and_no_color_takes_them_away(local_file: Path) -> None:
    assert local_file.exists()
    assert run(*ADD_ENDPOINT, **SECRETS).returncode == 0
    listed = ("webhooks", "endpoint", "list")
    assert b"\x1b[" in _at_terminal(*listed)
    assert b"\x1b[32m" not in _at_terminal(*listed, NO_COLOR="1")


def test_help_starts_without_the_platform() -> None:
    code = (
        "import sys; from headrace.workers.console.cli.app import app; "
        "heavy = {'sqlalchemy', 'asyncpg', 'pydantic', 'redis', 'alembic', 'fastapi', 'rich.table'}; "
        "sys.exit(' '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    argv = [sys.executable, "-c", code]
    said = subprocess.run(argv, capture_output=True, check=False, timeout=50)  # noqa: S603 - fixed
    assert (said.returncode, said.stderr) == (0, b"")


def _at_terminal(*args: str, **more: str) -> bytes:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own program
        [PROGRAM, *args], stdout=theirs, stderr=theirs, env=environment(TERM="xterm-256color", COLUMNS="200", **more)
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # how Linux says that the other side has closed
        pass
    os.close(ours)
    assert process.wait(timeout=50) == 0
    return shown


def _wait_until_reading(pid: int) -> None:
    waits_for = Path(f"/proc/{pid}/wchan")
    assert holds_within(lambda: "pipe" in waits_for.read_text(encoding="ascii"), timedelta(seconds=40))


@pytest.mark.parametrize("group", [(), ("work",), ("webhooks", "endpoint")])
def test_a_command_without_its_subcommand_shows_readable_help(group: tuple[str, ...]) -> None:
    said = run(*group)
    assert said.returncode == 2
    assert said.stderr.startswith(b"Usage: headrace")
    assert b"\nCommands:\n" in said.stderr
