"""The patch of a dry run is one that git takes."""

import subprocess
from pathlib import Path, PurePosixPath

from headrace.tools.new_worker.change import Change
from headrace.tools.new_worker.diff import patch_of
from headrace.tools.new_worker.draft import Draft
from tools.tests.new_worker.trees import LIST, AddedLine, lasting_changes, small_tree, state_of


def test_patch_makes_the_same_tree_when_git_applies_it(tmp_path: Path) -> None:
    patched, changed = tmp_path / "patched", tmp_path / "changed"
    for root in (patched, changed):
        small_tree(root, **{"docs/unended.md": "no newline", "docs/odd.md": "a\x0cb\u2028c\n"})
    tree = small_tree(changed)
    draft = Draft(tree)
    draft.create(PurePosixPath("docs/new.md"), "# New\n")
    draft.create(PurePosixPath("docs/empty.typed"), "")
    draft.edit(LIST, AddedLine("- new").apply)
    draft.edit(PurePosixPath("docs/unended.md"), AddedLine(" yet").apply)
    draft.edit(PurePosixPath("docs/odd.md"), AddedLine("d").apply)
    draft.remove(PurePosixPath("docs/old.md"))
    plan = draft.plan()
    with Change(changed, plan).applied(lambda _: None):
        pass
    subprocess.run(["git", "init", "--quiet"], cwd=patched, check=True)  # noqa: S607 - the developer's own git
    subprocess.run(["git", "apply"], cwd=patched, input=patch_of(plan).encode(), check=True)  # noqa: S607 - likewise
    assert lasting_changes(patched, state_of(changed)) == []
