"""The commands that follow a change."""

import os
import sys
from pathlib import Path, PurePosixPath

import pytest

from headrace.tools.new_worker.steps import Step, check_steps, lock_step, run_step

# Starts a process that would write a file once the pipe is closed behind it, says so, and waits for it.
LINGERING = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""


def python(program: str, timeout_seconds: float = 50.0) -> Step:
    return Step("test", (sys.executable, "-c", program), timeout_seconds=timeout_seconds)


def test_output_is_kept_when_a_step_ends_well(tmp_path: Path) -> None:
    outcome = run_step(python("import os; print(os.getcwd())"), tmp_path)
    assert (outcome.is_ok, outcome.output) == (True, str(tmp_path))


def test_step_has_failed_when_it_ends_with_a_code(tmp_path: Path) -> None:
    outcome = run_step(python("import sys; sys.exit('no room')"), tmp_path)
    assert (outcome.is_ok, outcome.output) == (False, "no room")


def test_step_has_failed_when_its_program_is_missing(tmp_path: Path) -> None:
    outcome = run_step(Step("test", ("no-such-program",)), tmp_path)
    assert (outcome.is_ok, outcome.output) == (False, "no-such-program cannot be run: No such file or directory.")


def test_everything_that_a_step_started_is_gone_when_its_time_is_up(tmp_path: Path) -> None:
    outcome = run_step(python(LINGERING, timeout_seconds=2.0), tmp_path)
    assert (outcome.is_ok, outcome.output) == (False, "It took longer than 2 s.")
    commands = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline")] if Path("/proc").exists() else []
    assert not [each for each in commands if b"time.sleep(600)" in each]


def test_flags_of_an_outer_make_do_not_reach_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "--jobserver-auth=3,4")
    monkeypatch.setenv("MAKELEVEL", "1")
    outcome = run_step(python("import os; print([n for n in os.environ if n.startswith('MAKE')])"), tmp_path)
    assert outcome.output == "[]"


def test_tree_locks_itself_with_its_own_tool_and_its_own_uv(tmp_path: Path) -> None:
    (tmp_path / "tools/src/headrace/tools/lock").mkdir(parents=True)
    (tmp_path / ".headrace/bin").mkdir(parents=True)
    (tmp_path / ".headrace/bin/uv").touch()
    step = lock_step(tmp_path)
    assert step.argv[-1] == str(tmp_path / ".headrace/bin/uv")
    assert step.environment == {"PYTHONPATH": str(tmp_path / "tools/src")}


def test_tree_without_tools_is_locked_with_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV", "/somewhere/uv")
    step = lock_step(tmp_path)
    assert step.argv[-1] == "/somewhere/uv"
    assert step.environment == {}


def test_checks_are_of_the_written_sources_and_of_the_whole_tree() -> None:
    files = (PurePosixPath("a.py"), PurePosixPath("b.md"))
    names = [(step.name, step.argv[-1]) for step in check_steps(files, verify=True)]
    assert names == [("format", "a.py"), ("gate", "check")]
    assert [step.name for step in check_steps(files, verify=False)] == ["format"]
    assert [step.name for step in check_steps(files[1:], verify=False)] == []


def test_step_sees_the_environment_and_its_own(tmp_path: Path) -> None:
    step = Step(
        "test", (sys.executable, "-c", "import os; print(os.environ['HERE'], os.environ['PATH'])"), {"HERE": "x"}
    )
    assert run_step(step, tmp_path).output == f"x {os.environ['PATH']}"
