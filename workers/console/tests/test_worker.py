import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from headrace.workers.console.local_env import set_variables
from headrace.workers.console.settings import LOCAL_ENV_FILE
from headrace.workers.console.worker_programs import WORKERS_GROUP, installed_workers
from workers.console.tests.command_line import CommandLine


def test_the_installed_workers_are_found_by_their_entry_points(line: CommandLine) -> None:
    found = {each["name"]: each["program"] for each in line.json("worker", "list")["workers"]}
    assert found["maintenance"].endswith("/headrace-maintenance")
    assert found["webhook-dispatcher"].endswith("/headrace-webhook-dispatcher")


def test_a_generated_worker_is_found_without_an_edit_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    info = tmp_path / "headrace_made-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: headrace-made\nVersion: 1\n", encoding="ascii")
    scripts = "[console_scripts]\nheadrace-maintenance = made.main:main\n"
    (info / "entry_points.txt").write_text(f"{scripts}[{WORKERS_GROUP}]\nmade = made.main:main\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed_workers()["made"].argv() == (installed_workers()["maintenance"].program, "serve")


def test_a_worker_without_a_console_script_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    info = tmp_path / "headrace_made-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: headrace-made\nVersion: 1\n", encoding="ascii")
    (info / "entry_points.txt").write_text(f"[{WORKERS_GROUP}]\nmade = made.main:main\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert EntryPoint("made", "made.main:main", WORKERS_GROUP).name not in installed_workers()


def test_running_a_worker_becomes_its_program_with_the_local_settings(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_variables(LOCAL_ENV_FILE, {"HEADRACE_LANE": "file", "HEADRACE_LEASE": "90s"})
    monkeypatch.setenv("HEADRACE_LANE", "mine")
    assert line.run("worker", "run", "maintenance").exit_code == 0
    [(argv, environment)] = line.executed
    assert (argv[0].rpartition("/")[2], argv[1]) == ("headrace-maintenance", "serve")
    assert (environment["HEADRACE_LANE"], environment["HEADRACE_LEASE"]) == ("mine", "90s")
    assert Path(argv[0]).parent == Path(sys.executable).parent


def test_an_unknown_worker_is_refused_with_2_and_the_known_ones_are_named(line: CommandLine) -> None:
    result = line.run("worker", "run", "nobody")
    assert result.exit_code == 2
    known = ", ".join(installed_workers())
    assert f"no worker 'nobody' is installed here; installed are: {known}" in " ".join(result.stderr.split())
    assert line.executed == []
