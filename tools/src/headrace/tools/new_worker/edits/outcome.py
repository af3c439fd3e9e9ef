"""What an edit is and how it can end."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Done:
    """The edit fits.

    Attributes:
        text: The whole new text of the file; never equal to the old one.
    """

    text: str


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """The file already says what the edit would make it say; nothing is to be written."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """The edit does not fit: what it holds on to is missing, is there twice, or says something else.

    Attributes:
        help: A sentence for the developer: what was looked for, and what to write there by hand.
    """

    help: str


type EditOutcome = Done | AlreadyThere | Cannot


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one file that is there already, with its way back.

    Both functions are pure, from the file's whole text to an outcome. Reverting what applying made gives the first text
    back, byte for byte; so does reverting in another order than applying, where the file keeps a line for each worker.

    Attributes:
        path: The file, from the root of the tree.
        apply: Makes the change; answers `AlreadyThere` when run over its own result.
        revert: Takes the change out; answers `AlreadyThere` when it is not in the text.
    """

    path: PurePosixPath
    apply: Callable[[str], EditOutcome]
    revert: Callable[[str], EditOutcome]
