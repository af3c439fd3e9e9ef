"""A small tree to change, and what a test wants to know of it before and after."""

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.plan import Plan
from headrace.tools.new_worker.tree import Tree

LIST = PurePosixPath("docs/list.md")
FILES = {
    "pyproject.toml": '[project]\nname = "acme"\n',
    "om/src/acme/om/__init__.py": '"""The object model."""\n',
    "om/src/acme/om/work/manager.py": '"""The work manager."""\n',
    "docs/list.md": "# Workers\n\n- kit\n",
    "docs/old.md": "to be removed\n",
    "scripts/run.sh": "#!/bin/sh\necho old\n",
    "workers/kit/pyproject.toml": '[project]\nname = "acme-worker-kit"\n',
}


def small_tree(root: Path, **more: str) -> Tree:
    """Make a tree of few files; one of them is executable."""
    for path, text in {**FILES, **more}.items():
        write(root, path, text)
    (root / "scripts/run.sh").chmod(0o755)
    return Tree.open(root)


def write(root: Path, path: str, text: str) -> None:
    """Write one file, making the folders that it needs."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


type State = Mapping[str, tuple[object, ...]]


def state_of(root: Path) -> State:
    """Return everything below a folder that must not change by accident: contents, modes, and when it was written."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.split("/", maxsplit=1)[0] in {".git", ".headrace"} or "__pycache__" in name:
            continue
        status = path.lstat()
        if path.is_dir():
            found[name] = (oct(status.st_mode),)
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[name] = (oct(status.st_mode), content, status.st_mtime_ns)
    return found


def without_times(state: State) -> State:
    """Leave out when files were written, and folders, which git does not know."""
    return {name: each[:2] for name, each in state.items() if len(each) > 1}


def differences(one: State, other: State) -> list[str]:
    """Return the paths in which two states differ; short where a comparison of both would fill screens."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def changes(root: Path, before: State) -> list[str]:
    """Return the paths below a folder that are not as they were."""
    return differences(state_of(root), before)


def lasting_changes(root: Path, before: State) -> list[str]:
    """Return the files below a folder that are not as they were, apart from when they were written."""
    return differences(without_times(state_of(root)), without_times(before))


class AddedLine:
    """An edit, and its way back."""

    def __init__(self, line: str) -> None:
        self._line = f"{line}\n"

    def apply(self, text: str) -> EditOutcome:
        """Add the line."""
        return AlreadyThere() if self._line in text else Done(text + self._line)

    def revert(self, text: str) -> EditOutcome:
        """Take it out."""
        return Done(text.replace(self._line, "")) if self._line in text else AlreadyThere()


def impossible(_: str) -> EditOutcome:
    """Find nothing to hold on to."""
    return Cannot(help="There is no list: write `- worker` into it by hand.")


def sample_plan(tree: Tree) -> Plan:
    """Return a change of every sort: files in new folders, edits, one of an executable file, and a removal."""
    draft = Draft(tree)
    for number in range(3):
        draft.create(PurePosixPath(f"workers/new/src/part_{number}.py"), f'"""Part {number}."""\n')
    draft.create(PurePosixPath("workers/new/README.md"), "# New\n")
    draft.edit(LIST, AddedLine("- new").apply)
    draft.edit(PurePosixPath("scripts/run.sh"), AddedLine("echo new").apply)
    draft.remove(PurePosixPath("docs/old.md"))
    return draft.plan()
