"""Workers that are made on two branches come together without a conflict."""

from pathlib import Path

import pytest

from headrace.tools.new_worker.cli import new_worker
from headrace.tools.workers.reading import read_workers
from tools.tests.new_worker.conftest import git
from tools.tests.new_worker.test_cli import KINDS
from tools.tests.new_worker.trees import lasting_changes, state_of

WORKERS = (
    ("sample-notifier", "NOTIFY_SAMPLE"),
    ("sample-poller", "NOTIFY_SAMPLE_LATE", "--lane", "bulk", "--payload", "order_id:uuid"),
    ("sample-checker", "CHECK_SAMPLE"),
)


def commit_worker(root: Path, *arguments: str) -> None:
    """Make a worker on a branch of its own, from main."""
    git(root, "checkout", "--quiet", "-b", arguments[0], "main")
    assert new_worker([*arguments, "--no-verify", "--root", str(root)]) == 0
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", f"Add {arguments[0]}")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_branches_merge_without_conflict(git_repository: Path, order: tuple[int, ...]) -> None:
    root = git_repository
    for arguments in WORKERS:
        commit_worker(root, *arguments)
    git(root, "checkout", "--quiet", "main")
    for number in order:
        git(root, "merge", "--quiet", "--no-edit", WORKERS[number][0])
    assert git(root, "status", "--porcelain") == ""
    made = {name: kind for name, kind, *_ in WORKERS}
    assert {worker.name: worker.kind for worker in read_workers(root) if worker.name in made} == made
    kinds = (root / KINDS).read_text()
    assert all(kinds.count(f'    {kind} = "{kind}"\n') == 1 for kind in made.values())
    readme = (root / "om/src/headrace/om/work/README.md").read_text()
    assert all(readme.count(f"\n| `{kind}` |") == 1 for kind in made.values())


def test_merged_workers_are_identical_to_workers_made_in_a_row(git_repository: Path) -> None:
    root = git_repository
    for arguments in WORKERS:
        commit_worker(root, *arguments)
    git(root, "checkout", "--quiet", "main")
    for name, *_ in WORKERS:
        git(root, "merge", "--quiet", "--no-edit", name)
    before = state_of(root)
    for arguments in WORKERS:
        assert new_worker([*arguments, "--no-verify", "--root", str(root)]) == 0
    assert lasting_changes(root, before) == []
    assert git(root, "status", "--porcelain") == ""
