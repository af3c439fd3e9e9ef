"""What a check yields, and what a rule is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, override

if TYPE_CHECKING:
    from headrace.tools.arch_check.repository import Repository


class ArchCheckUsageError(Exception):
    """The check cannot run: its arguments, its options or the shape of the tree are wrong; nothing was checked."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One place that breaks a rule.

    Attributes:
        path: File, relative to the root, with forward slashes.
        line: Line in the file, counted from 1.
        sentence: What is wrong there and what was expected.
    """

    path: str
    line: int
    sentence: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A problem together with the rule that it breaks. Orders by place, then by rule."""

    path: str
    line: int
    rule: str
    sentence: str

    @override
    def __str__(self) -> str:
        """Give the line that the command prints."""
        return f"{self.path}:{self.line}: {self.rule} {self.sentence}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the architecture.

    Attributes:
        id: Stable identifier, printed with every finding.
        title: The rule in a clause.
        reason: What goes wrong where it is broken.
        check: Yields every problem in a tree; in any order, nothing for a clean one.
    """

    id: str
    title: str
    reason: str
    check: Callable[["Repository"], Iterable[Problem]]
