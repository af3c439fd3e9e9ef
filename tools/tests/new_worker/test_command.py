"""One run from its plan to its exit code, over a small tree with real commands."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path, PurePosixPath

import pytest

from headrace.tools.dev.waiting import holds_within
from headrace.tools.new_worker.command import Intention, Options, Run
from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.exceptions import WrongNameError
from headrace.tools.new_worker.plan import Plan
from headrace.tools.new_worker.report import ExitCode, Report
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.runs import run, with_lock
from tools.tests.new_worker.trees import LIST, changes, impossible, sample_plan, small_tree, state_of, write

ROOT = Path(__file__).parents[3]
type Captured = pytest.CaptureFixture[str]
FAILING = '#!/bin/sh\necho "half" > uv.lock\necho "no such package" >&2\nexit 3\n'


def code_of_process(root: Path) -> int:
    argv = [sys.executable, "-m", "tools.tests.new_worker.runs", str(root)]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, check=False, timeout=50).returncode  # noqa: S603 - ours


def test_run_is_done_when_plan_lock_and_gate_are(tmp_path: Path, capfd: Captured) -> None:
    with_lock(tmp_path)
    assert run(tmp_path) is ExitCode.DONE
    told = capfd.readouterr()
    assert (tmp_path / "uv.lock").read_text() == "version = 2\n"
    assert (tmp_path / "nix/uv.lock").exists()
    lines = told.out.splitlines()
    assert "update    docs/list.md" in lines
    assert "create    workers/new/README.md" in lines
    assert [line.split(":")[0] for line in lines if line.startswith("ok ")] == [
        "ok        lock",
        "ok        format",
        "ok        gate",
    ]
    assert lines[-3:] == ["Next:", "  edit it", "Done."]
    assert "gate has run" in told.err


def test_nothing_is_touched_when_all_is_there(tmp_path: Path, capsys: Captured) -> None:
    with_lock(tmp_path)
    run(tmp_path)
    before = state_of(tmp_path)
    assert run(tmp_path) is ExitCode.DONE
    assert changes(tmp_path, before) == []
    assert capsys.readouterr().out.endswith("nothing has been touched.\n")


def test_nothing_is_written_in_a_dry_run(tmp_path: Path, capsys: Captured) -> None:
    with_lock(tmp_path)
    before = state_of(tmp_path)
    state = sorted(tmp_path.glob(".headrace/**/*"))
    assert run(tmp_path, dry=True) is ExitCode.DONE
    assert changes(tmp_path, before) == []
    assert sorted(tmp_path.glob(".headrace/**/*")) == state
    assert "+++ b/workers/new/README.md\n@@ -0,0 +1 @@\n+# New\n" in capsys.readouterr().out


def test_tree_is_as_before_when_the_lock_fails(tmp_path: Path, capsys: Captured) -> None:
    with_lock(tmp_path, FAILING)
    before = state_of(tmp_path)
    assert run(tmp_path) is ExitCode.ROLLED_BACK
    assert changes(tmp_path, before) == []
    told = capsys.readouterr()
    assert "FAILED    lock" in told.out
    assert "no such package" in told.err
    assert told.err.endswith("The tree is as it was before.\n")


def test_tree_is_kept_when_the_gate_fails(tmp_path: Path, capsys: Captured) -> None:
    with_lock(tmp_path, gate="check:\n\t@exit 1\n")
    assert run(tmp_path) is ExitCode.UNVERIFIED
    assert (tmp_path / "workers/new/README.md").exists()
    assert "FAILED    gate" in capsys.readouterr().out


def test_gate_is_left_out_when_asked(tmp_path: Path) -> None:
    with_lock(tmp_path, gate="check:\n\t@exit 1\n")
    assert run(tmp_path, verify=False) is ExitCode.DONE


def test_lock_is_left_out_when_the_tree_has_none(tmp_path: Path, capsys: Captured) -> None:
    small_tree(tmp_path)
    assert run(tmp_path, verify=False) is ExitCode.DONE
    assert "lock:" not in capsys.readouterr().out


def test_nothing_is_written_when_one_file_is_in_conflict(tmp_path: Path, capsys: Captured) -> None:
    def plan(tree: Tree) -> Plan:
        draft = Draft(tree)
        draft.create(PurePosixPath("docs/new.md"), "# New\n")
        draft.create(PurePosixPath("docs/old.md"), "# Other\n")
        draft.edit(LIST, impossible)
        return draft.plan()

    small_tree(tmp_path)
    before = state_of(tmp_path)
    assert run(tmp_path, plan) is ExitCode.REFUSED
    assert changes(tmp_path, before) == []
    told = capsys.readouterr()
    assert told.out.splitlines() == ["conflict  docs/list.md", "create    docs/new.md", "conflict  docs/old.md"]
    assert told.err.splitlines() == [
        "There is no list: write `- worker` into it by hand.",
        "docs/old.md has other content already.",
        "Nothing has been written.",
    ]


def test_refusal_is_one_sentence(tmp_path: Path, capsys: Captured) -> None:
    def plan(_: Tree) -> Plan:
        raise WrongNameError("'2x' begins with a digit.")

    small_tree(tmp_path)
    assert run(tmp_path, plan) is ExitCode.REFUSED
    assert capsys.readouterr().err == "'2x' begins with a digit.\n"


def test_folder_is_refused_when_it_is_no_tree(tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path) is ExitCode.REFUSED
    assert "holds no pyproject.toml" in capsys.readouterr().err
    write(tmp_path, "pyproject.toml", "")
    assert run(tmp_path) is ExitCode.REFUSED
    assert "om/src must hold one folder" in capsys.readouterr().err


def test_fault_of_the_generator_is_told_whole(tmp_path: Path, capsys: Captured) -> None:
    def plan(_: Tree) -> Plan:
        raise ZeroDivisionError

    small_tree(tmp_path)
    before = state_of(tmp_path)
    assert run(tmp_path, plan) is ExitCode.ROLLED_BACK
    assert changes(tmp_path, before) == []
    assert "ZeroDivisionError" in capsys.readouterr().err


def no_plan(tree: Tree) -> Plan:
    return Draft(tree).plan()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_tree_is_as_before_when_a_signal_comes_while_it_locks(tmp_path: Path, number: int) -> None:
    with_lock(tmp_path, f"#!/bin/sh\necho half > uv.lock\nkill -{number:d} $RUN\nsleep 600\n")
    before = state_of(tmp_path)
    assert code_of_process(tmp_path) == ExitCode.ROLLED_BACK
    assert changes(tmp_path, before) == []


def test_tree_is_kept_when_a_signal_comes_in_the_gate(tmp_path: Path) -> None:
    with_lock(tmp_path, gate=f"check:\n\t@kill -{signal.SIGTERM:d} $$RUN; sleep 600\n")
    assert code_of_process(tmp_path) == ExitCode.UNVERIFIED
    assert (tmp_path / "workers/new/README.md").exists()


def test_next_run_takes_back_what_a_killed_one_left(tmp_path: Path, capsys: Captured) -> None:
    # The command goes on when the run is gone; until it has ended, no other run is let in.
    go_on = tmp_path.with_name("go-on")
    os.mkfifo(go_on)
    with_lock(tmp_path, f"#!/bin/sh\necho half > uv.lock\nkill -{signal.SIGKILL:d} $RUN\nread -r _ < {go_on}\n")
    before = state_of(tmp_path)
    assert code_of_process(tmp_path) == -signal.SIGKILL
    assert changes(tmp_path, before)
    assert run(tmp_path, dry=True) is ExitCode.REFUSED
    assert "cut off" in capsys.readouterr().err
    assert run(tmp_path, no_plan) is ExitCode.REFUSED
    assert "Another run is changing this tree" in capsys.readouterr().err
    go_on.write_text("now\n")
    assert holds_within(lambda: run(tmp_path, no_plan) is ExitCode.DONE, timedelta(seconds=40))
    assert "has been taken back" in capsys.readouterr().out
    assert changes(tmp_path, before) == []


def test_run_is_one_object_when_json_is_asked_for(tmp_path: Path, capsys: Captured) -> None:
    with_lock(tmp_path)
    options = Options(root=tmp_path, is_dry_run=False, verify=False)
    report = Report(as_json=True)
    report.request({"worker_name": "new"})
    assert Run(options, report).carry_out(lambda tree: Intention("new", sample_plan(tree), ("edit it",))) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["exit_code"], told["outcome"], told["request"]) == (0, "done", {"worker_name": "new"})
    assert {"path": "docs/list.md", "state": "update"} in told["files"]
    assert [(step["name"], step["outcome"]) for step in told["steps"]] == [("lock", "ok"), ("format", "ok")]
    assert told["next"] == ["edit it"]


def test_patches_are_in_the_object_of_a_dry_run(tmp_path: Path, capsys: Captured) -> None:
    small_tree(tmp_path)
    options = Options(root=tmp_path, is_dry_run=True, verify=True)
    Run(options, Report(as_json=True)).carry_out(lambda tree: Intention("new", sample_plan(tree), ()))
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["patch"].count("\n+- new\n") for file in files if file["path"] == "docs/list.md"] == [1]
