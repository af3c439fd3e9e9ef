"""Collects a change in memory, file by file, and says how each stands to what is on disk."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.exceptions import GeneratorError, TreeError
from headrace.tools.new_worker.formatting import check_parses, formatted
from headrace.tools.new_worker.plan import FileState, Plan, PlannedFile
from headrace.tools.new_worker.tree import Tree

_MARKER: Final = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)


class Draft:
    """A change that grows; reads the tree and writes nothing."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._texts: dict[PurePosixPath, str | None] = {}
        self._conflicts: dict[PurePosixPath, str] = {}

    @property
    def staged(self) -> Mapping[PurePosixPath, str]:
        """The texts that the files of this change will have."""
        return {path: text for path, text in self._texts.items() if text is not None}

    def create(self, path: PurePosixPath, text: str, *, clash: str = "has other content already") -> None:
        """Add a file that must not be there yet, or be there with just this text.

        Args:
            path: From the root of the tree.
            text: The whole file.
            clash: What is wrong with a file that is there with another text.
        """
        before = self._read(path)
        if before not in {None, text}:
            self._conflicts.setdefault(path, f"{path} {clash}.")
        self._texts[path] = text

    def edit(self, path: PurePosixPath, change: Callable[[str], EditOutcome]) -> None:
        """Add one side of an edit of a file that is there, on disk or in this change."""
        text = self._texts.get(path, self._read(path))
        if path in self._conflicts:
            return
        if text is None:
            self._conflicts[path] = f"{path} is missing, and the change would add to it."
        else:
            self._take(path, text, change(text))

    def remove(self, path: PurePosixPath) -> None:
        """Add that a file shall be gone; one that is gone already is no conflict."""
        self._texts[path] = None

    def refuse(self, path: PurePosixPath, help_: str) -> None:
        """Note that a file is in the way."""
        self._conflicts.setdefault(path, help_)

    def plan(self) -> Plan:
        """Return the change as it stands, checked.

        Raises:
            GeneratorError: A text that it would write does not parse, or an edit broke the form of its file.
        """
        files = tuple(self._planned(path) for path in sorted({*self._texts, *self._conflicts}))
        for file in files:
            if file.state in {FileState.CREATE, FileState.UPDATE} and file.after is not None:
                check_parses(file.path, file.after.decode())
        self._check_form([file for file in files if file.state is FileState.UPDATE])
        return Plan(tuple(file for file in files if (file.before, file.after) != (None, None) or file.help))

    def _take(self, path: PurePosixPath, text: str, outcome: EditOutcome) -> None:
        match outcome:
            case Done(text=changed):
                self._texts[path] = changed
            case AlreadyThere():
                self._texts.setdefault(path, text)
            case Cannot(help=sentence):
                self._conflicts[path] = sentence

    def _read(self, path: PurePosixPath) -> str | None:
        """Return what is on disk; what must not be touched becomes a conflict and reads as nothing."""
        try:
            text = self._tree.read(path)
        except TreeError as error:
            self._conflicts[path] = str(error)
            return None
        if text is not None and _MARKER.search(text):
            self._conflicts[path] = f"{path} has the marks of a merge in it: settle that first."
        return text

    def _planned(self, path: PurePosixPath) -> PlannedFile:
        text = self._texts.get(path)
        after = None if text is None else text.encode()
        if path in self._conflicts:
            return PlannedFile(path, FileState.CONFLICT, None, after, self._conflicts[path])
        before = self._tree.read_bytes(path)
        return PlannedFile(path, _state(before, after), before, after)

    def _check_form(self, updates: Sequence[PlannedFile]) -> None:
        """Refuse an edit that spoils a file's form; a file that was not in the tree's form is the developer's own."""
        before = {file.path: file.before.decode() for file in updates if file.before is not None}
        tidy = {path for path, text in formatted(self._tree, before).items() if text == before[path]}
        after = {file.path: file.after.decode() for file in updates if file.after is not None and file.path in tidy}
        for path, text in formatted(self._tree, after).items():
            if text != after[path]:
                raise GeneratorError(f"{path} would lose its form by the edit.")


def _state(before: bytes | None, after: bytes | None) -> FileState:
    if before == after:
        return FileState.IDENTICAL
    if before is None:
        return FileState.CREATE
    return FileState.REMOVE if after is None else FileState.UPDATE
