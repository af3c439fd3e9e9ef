"""A planned change: what becomes of each file, before anything is written."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


class FileState(StrEnum):
    """What a plan has in mind for a file."""

    CREATE = "create"
    UPDATE = "update"
    REMOVE = "remove"
    IDENTICAL = "identical"
    """The file is already what it should be; it is not touched."""
    CONFLICT = "conflict"
    """The file says something else; nothing of the plan is carried out."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file of a plan.

    Attributes:
        path: From the root of the tree.
        state: What is to become of it.
        before: What is on disk; None where nothing is.
        after: What is to be there; None where nothing is to be, and for a conflict that left no text.
        help: A conflict's sentence for the developer; empty otherwise.
    """

    path: PurePosixPath
    state: FileState
    before: bytes | None
    after: bytes | None
    help: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole change.

    Attributes:
        files: Every file that it concerns, in order of path.
    """

    files: tuple[PlannedFile, ...]

    @property
    def conflicts(self) -> tuple[PlannedFile, ...]:
        """The files that stand in the way; with any, the plan is not carried out."""
        return tuple(file for file in self.files if file.state is FileState.CONFLICT)

    @property
    def changes(self) -> tuple[PlannedFile, ...]:
        """The files that are to be written or removed; none when everything is there already."""
        return tuple(file for file in self.files if file.state not in {FileState.IDENTICAL, FileState.CONFLICT})
