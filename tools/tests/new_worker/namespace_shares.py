"""A module of a small tree, and the namespace's share of it."""

import re
from pathlib import PurePosixPath
from textwrap import dedent

from headrace.tools.new_worker.edits import Done, Edit, EditOutcome
from headrace.tools.new_worker.namespace.cutting import cuts_of
from headrace.tools.new_worker.namespace.ownership import Ownership, SourceModule
from headrace.tools.new_worker.namespace.python_edits import python_edit
from headrace.tools.new_worker.namespace.slices import Slice, slice_of

PATH = PurePosixPath("om/src/acme/om/root.py")
TEST_PATH = PurePosixPath("om/tests/unit/test_root.py")


def ownership() -> Ownership:
    roots = {"acme.om.topics": re.compile(r"(?:Topics\.)?(?:WORK|Work)\w*")}
    return Ownership(["acme.om.work"], roots, ["work_items"])


def file(text: str) -> str:
    """Return an indented literal as a file."""
    return dedent(text).strip() + "\n"


def share_of(text: str, *others: tuple[str, str], path: PurePosixPath = PATH) -> Slice | None:
    """Return the namespace's share of a module; other modules, by name, are read before it."""
    known = ownership()
    for name, other in others:
        cuts_of(SourceModule(PurePosixPath(f"om/src/{name.replace('.', '/')}.py"), name, file(other)), known)
    module = SourceModule(path, "acme.om.root" if path == PATH else "om.tests.unit.test_root", file(text))
    for _ in range(3):
        cuts_of(module, known)
    return slice_of(module, known)


def edit_of(text: str, *others: tuple[str, str], path: PurePosixPath = PATH) -> Edit:
    """Return the edit that gives a module the namespace's share that another version of it has."""
    share = share_of(text, *others, path=path)
    assert share is not None
    return python_edit(path, share, "acme")


def text_of(outcome: EditOutcome) -> str:
    assert isinstance(outcome, Done), outcome
    return outcome.text
