"""Workers that are made on two branches come together without a conflict."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from headrace.tools.new_worker.cli import new_worker, remove_worker
from headrace.tools.new_worker.rendering.edits import FULL_COMPOSE
from headrace.tools.workers.reading import read_workers
from tools.tests.new_worker.conftest import git
from tools.tests.new_worker.test_cli import KINDS
from tools.tests.new_worker.trees import lasting_changes, state_of

WORKERS = (
    ("sample-notifier", "NOTIFY_SAMPLE", "--container"),
    ("sample-poller", "NOTIFY_SAMPLE_LATE", "--container", "--lane", "bulk", "--payload", "order_id:uuid"),
    ("sample-checker", "CHECK_SAMPLE", "--container"),
    ("zone-checker", "CHECK_ZONE", "--container"),
    ("zone-keeper", "KEEP_ZONE"),
)


def commit_worker(root: Path, *arguments: str) -> None:
    """Make a worker on a branch of its own, from main."""
    git(root, "checkout", "--quiet", "-b", arguments[0], "main")
    assert new_worker([*arguments, "--no-verify", "--root", str(root)]) == 0
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", f"Add {arguments[0]}")


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 3, 1, 0)])
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
    # A key that is there twice would be an error.
    services = YAML(typ="safe", pure=True).load(root / FULL_COMPOSE)["services"]
    assert {name for name in made if name in services} == {name for name, *more in WORKERS if "--container" in more}


def test_merged_workers_are_those_that_were_made_and_leave_the_first_tree_when_they_go(git_repository: Path) -> None:
    root = git_repository
    for arguments in WORKERS:
        commit_worker(root, *arguments)
    git(root, "checkout", "--quiet", "main")
    for name, *_ in WORKERS:
        git(root, "merge", "--quiet", "--no-edit", name)
    before, first = state_of(root), git(root, "merge-base", "--octopus", *(name for name, *_ in WORKERS))
    for arguments in WORKERS:
        assert new_worker([*arguments, "--no-verify", "--root", str(root)]) == 0
    assert lasting_changes(root, before) == []
    assert git(root, "status", "--porcelain") == ""
    for name, *_ in WORKERS:
        assert remove_worker([name, "--no-verify", "--root", str(root)]) == 0
    git(root, "add", "--all")
    assert git(root, "write-tree") == git(root, "rev-parse", f"{first.strip()}^{{tree}}")
