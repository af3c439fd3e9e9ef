"""The command in a tree without the work namespace."""

from pathlib import Path

import pytest

from headrace.tools.new_worker.cli import new_worker, remove_worker
from headrace.tools.new_worker.namespace import strip_namespace
from headrace.tools.new_worker.report import ExitCode
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.namespace_trees import CONCERNED, copy_repository
from tools.tests.new_worker.trees import State, changes, lasting_changes, state_of

MANAGER = "om/src/headrace/om/work/manager.py"
SAMPLE = ("sample-notifier", "NOTIFY_SAMPLE")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return copy_repository(tmp_path / "tree", *CONCERNED, "workers")


@pytest.fixture
def as_it_was(whole: Path) -> State:
    """How the tree was before the namespace was taken out of it."""
    for part in whole.glob("workers/*/lock.toml"):
        part.unlink()
    before = state_of(whole)
    strip_namespace(Tree.open(whole))
    return before


def make(root: Path, *arguments: str) -> int:
    return new_worker([*arguments, "--no-verify", "--root", str(root)])


def test_namespace_comes_with_the_worker_and_stays_without_it(whole: Path, as_it_was: State) -> None:
    assert not (whole / MANAGER).exists()
    assert make(whole, *SAMPLE) == ExitCode.DONE
    assert (whole / "workers/sample-notifier/pyproject.toml").is_file()
    assert remove_worker(["sample-notifier", "--no-verify", "--root", str(whole)]) == ExitCode.DONE
    assert lasting_changes(whole, as_it_was) == []


def test_nothing_is_touched_when_the_same_is_asked_for_again(whole: Path, as_it_was: State) -> None:
    assert as_it_was
    make(whole, *SAMPLE)
    before = state_of(whole)
    assert make(whole, *SAMPLE) == ExitCode.DONE
    assert changes(whole, before) == []


def test_nothing_is_written_when_a_file_is_in_the_namespaces_way(whole: Path, as_it_was: State) -> None:
    assert MANAGER in as_it_was
    (whole / "om/src/headrace/om/work/types").mkdir(parents=True)
    (whole / "om/src/headrace/om/work/types/kinds.py").write_text('"""Mine."""\n')
    before = state_of(whole)
    assert make(whole, *SAMPLE) == ExitCode.REFUSED
    assert changes(whole, before) == []
