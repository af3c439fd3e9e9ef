import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headrace.tools.dev import PostgresServer
from headrace.tools.dev.commands import app
from headrace.tools.dev.processes import PidRecord, ProcessMark
from tests.fixtures.servers import NewServerFolder

PRINT_SETTINGS = "import os; assert os.environ['HEADRACE_DATABASE_RUNTIME_USER'] == 'headrace_runtime'"


@pytest.fixture(autouse=True)
def tree(new_server_folder: NewServerFolder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree of its own to stand in, with nothing given by the environment."""
    folder = new_server_folder("tree")
    (folder / "pyproject.toml").write_text("[tool.uv.workspace]\n")
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("HEADRACE_")]:
        monkeypatch.delenv(name)
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.mark.servers
def test_servers_stay_until_stopped_when_started(tree: Path) -> None:
    pid_file = tree / ".headrace" / "servers" / "postgres" / "server.pid"

    assert "PostgreSQL" in run("servers", "start").output
    assert PidRecord.read(pid_file) is not None
    assert "export HEADRACE_DATABASE_RUNTIME_PASSWORD=" in run("env").output
    assert run("exec", "--", sys.executable, "-c", "").exit_code == 0
    assert PidRecord.read(pid_file) is not None
    assert run("servers", "stop").output == "stopped: postgres, redis\n"
    assert PidRecord.read(pid_file) is None


@pytest.mark.servers
def test_nothing_is_left_when_cleaned(tree: Path) -> None:
    run("servers", "start")
    assert run("clean").exit_code == 0
    assert not list((tree / ".headrace").iterdir())


def test_cleaning_refuses_when_a_living_test_run_has_a_server(tree: Path, bystander: ProcessMark) -> None:
    folder = tree / ".headrace" / "servers" / "tests" / "redis-1"
    folder.mkdir(parents=True)
    PidRecord(server=bystander, owner=bystander, port=1).write(folder / "server.pid")

    result = run("clean")

    assert (result.exit_code, folder.exists()) == (1, True)


@pytest.mark.servers
def test_a_command_finds_its_settings_when_run(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_DATABASE_URL", postgres_server.dsn())
    assert run("exec", "--", sys.executable, "-c", PRINT_SETTINGS).exit_code == 0


@pytest.mark.servers
@pytest.mark.parametrize(("command", "code"), [([sys.executable, "-c", "exit(3)"], 3), (["./none"], 127)])
def test_the_exit_code_is_the_commands_own_when_run(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch, command: list[str], code: int
) -> None:
    monkeypatch.setenv("HEADRACE_DATABASE_URL", postgres_server.dsn())
    assert run("exec", "--", *command).exit_code == code


def test_one_sentence_is_said_and_the_code_is_1_when_a_server_does_not_answer(
    unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_DATABASE_URL", f"postgresql://127.0.0.1:{unused_port}/x")
    result = run("exec", "--", "true")
    assert result.exit_code == 1
    assert result.output.count("\n") == 1


def test_nothing_is_stopped_when_nothing_runs() -> None:
    assert run("servers", "stop").output == "stopped: nothing was running\n"
