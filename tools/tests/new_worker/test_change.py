"""A change is in the tree whole, or not at all, whatever happens on the way."""

import resource
import signal
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from headrace.tools.new_worker.change import Change, exclusive, recover, refuse_unfinished
from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.exceptions import ConflictError
from headrace.tools.new_worker.journal import Journal
from headrace.tools.new_worker.plan import PlannedFile
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.killed import change_of
from tools.tests.new_worker.runs import Crash, CrashError
from tools.tests.new_worker.trees import changes, lasting_changes, sample_plan, small_tree, state_of, write

ROOT = Path(__file__).parents[3]
NUM_FILES = 7


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    write(tmp_path, "uv.lock", "version = 1\n")
    return small_tree(tmp_path)


def ignore(_: PlannedFile) -> None:
    """Let every file pass."""


def fail_to_lock(root: Path) -> None:
    """Leave what a resolver leaves that stops half way."""
    write(root, "uv.lock", "half a lo")
    write(root, "workers/new/lock.toml", "a part")
    raise CrashError


def test_plan_is_in_the_tree_when_nothing_happens(tree: Tree) -> None:
    change = change_of(tree)
    assert len(change.plan.changes) == NUM_FILES
    with change.applied(ignore):
        pass
    assert (tree.root / "workers/new/src/part_2.py").read_text() == '"""Part 2."""\n'
    assert (tree.root / "scripts/run.sh").read_text().endswith("echo new\n")
    assert (tree.root / "scripts/run.sh").stat().st_mode & 0o777 == 0o755
    assert not (tree.root / "docs/old.md").exists()
    assert not (tree.root / ".headrace").exists()
    assert sample_plan(tree).changes == ()


def test_folders_go_when_a_change_empties_them(tree: Tree) -> None:
    write(tree.root, "workers/gone/src/deep/a.txt", "a")
    write(tree.root, "workers/gone/src/__pycache__/a.pyc", "compiled")
    draft = Draft(tree)
    draft.remove(PurePosixPath("workers/gone/src/deep/a.txt"))
    with Change(tree.root, draft.plan()).applied(ignore):
        assert not (tree.root / "workers/gone").exists()
    assert (tree.root / "workers/kit").exists()


def test_folders_come_back_with_their_modes_when_the_change_fails(tree: Tree) -> None:
    write(tree.root, "workers/gone/src/a.txt", "a")
    (tree.root / "workers/gone").chmod(0o750)
    before = state_of(tree.root)
    draft = Draft(tree)
    draft.remove(PurePosixPath("workers/gone/src/a.txt"))
    with pytest.raises(CrashError), Change(tree.root, draft.plan()).applied(ignore):
        raise CrashError
    assert changes(tree.root, before) == []


@pytest.mark.parametrize("num_written", range(1, NUM_FILES + 1))
def test_every_file_comes_back_when_it_crashes_after_each(tree: Tree, num_written: int) -> None:
    before = state_of(tree.root)
    with pytest.raises(CrashError), change_of(tree).applied(Crash(num_written)):
        pytest.fail("The crash did not come.")
    assert changes(tree.root, before) == []
    assert not (tree.root / ".headrace").exists()


def test_every_file_comes_back_when_a_command_fails_in_the_body(tree: Tree) -> None:
    before = state_of(tree.root)
    with pytest.raises(CrashError), change_of(tree).applied(ignore):
        fail_to_lock(tree.root)
    assert changes(tree.root, before) == []


def test_what_a_command_wrote_stays_when_the_body_ends_well(tree: Tree) -> None:
    with change_of(tree).applied(ignore):
        write(tree.root, "uv.lock", "version = 2\n")
    assert (tree.root / "uv.lock").read_text() == "version = 2\n"


def killed(tree: Tree, name: str, num_written: int) -> int:
    argv = [sys.executable, "-m", "tools.tests.new_worker.killed", str(tree.root), name, str(num_written)]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, check=False, timeout=50).returncode  # noqa: S603 - ours


@pytest.mark.parametrize("num_written", range(1, NUM_FILES + 2))
def test_next_run_puts_every_file_back_when_the_process_is_killed(tree: Tree, num_written: int) -> None:
    before = state_of(tree.root)
    assert killed(tree, "SIGKILL", num_written) == -signal.SIGKILL
    assert changes(tree.root, before)
    with pytest.raises(ConflictError, match="cut off"):
        refuse_unfinished(tree.root)
    assert recover(tree.root)
    assert changes(tree.root, before) == []
    assert not recover(tree.root)


@pytest.mark.parametrize("num_written", [1, NUM_FILES + 1])
def test_every_file_comes_back_when_ctrl_c_is_hit(tree: Tree, num_written: int) -> None:
    before = state_of(tree.root)
    assert killed(tree, "SIGINT", num_written) == -signal.SIGINT
    assert changes(tree.root, before) == []
    assert not recover(tree.root)


def test_putting_back_goes_on_when_it_was_cut_off_itself(tree: Tree) -> None:
    before = state_of(tree.root)
    killed(tree, "SIGKILL", NUM_FILES)
    old = tree.root / ".headrace/new-worker/old/docs%2Fold.md"
    old.replace(tree.root / "docs/old.md")
    assert recover(tree.root)
    assert changes(tree.root, before) == []


def test_later_text_is_set_aside_when_a_kill_is_recovered_from(tree: Tree) -> None:
    before = state_of(tree.root)
    killed(tree, "SIGKILL", NUM_FILES + 1)
    write(tree.root, "workers/new/README.md", "# What I wrote since\n")
    write(tree.root, "docs/list.md", "# Mine\n")
    assert recover(tree.root)
    assert changes(tree.root, before) == []
    kept = tree.root / ".headrace/new-worker-kept"
    assert (kept / "workers/new/README.md").read_text() == "# What I wrote since\n"
    assert (kept / "docs/list.md").read_text() == "# Mine\n"


def test_leftovers_are_cleared_when_the_kill_came_before_the_tree_was_touched(tree: Tree) -> None:
    before = state_of(tree.root)
    journal = Journal(tree.root)
    journal.start()
    journal.stage(PurePosixPath("docs/new.md"), b"new")
    assert not recover(tree.root)
    assert changes(tree.root, before) == []
    assert not (tree.root / ".headrace").exists()


def test_tree_is_untouched_when_the_disk_takes_no_more(tree: Tree) -> None:
    before = state_of(tree.root)
    draft = Draft(tree)
    draft.create(PurePosixPath("docs/a.md"), "small\n")
    draft.create(PurePosixPath("docs/b.md"), "large\n" * 1000)
    change = Change(tree.root, draft.plan())
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
    try:
        with pytest.raises(OSError, match="File too large"), change.applied(ignore):
            pytest.fail("There was room for all of it.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert changes(tree.root, before) == []
    assert not (tree.root / ".headrace").exists()


def test_change_is_refused_when_a_file_changed_since_the_plan(tree: Tree) -> None:
    change = change_of(tree)
    write(tree.root, "scripts/run.sh", "echo mine\n")
    before = state_of(tree.root)
    with pytest.raises(ConflictError, match=r"scripts/run\.sh was changed while"), change.applied(ignore):
        pytest.fail("It was written over.")
    assert lasting_changes(tree.root, before) == []


def test_second_run_is_refused_while_one_is_under_way(tree: Tree) -> None:
    with exclusive(tree.root), pytest.raises(ConflictError, match="Another run"), exclusive(tree.root):
        pytest.fail("Both were let in.")
    with exclusive(tree.root):
        pass


def test_state_of_others_stays_when_a_change_ends(tree: Tree) -> None:
    write(tree.root, ".headrace/local.env", "A=1\n")
    with change_of(tree).applied(ignore):
        pass
    assert [each.name for each in (tree.root / ".headrace").iterdir()] == ["local.env"]
