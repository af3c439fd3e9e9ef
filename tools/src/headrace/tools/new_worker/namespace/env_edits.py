"""An edit of the list of settings, `.env.example`: a paragraph for each, a comment and the variable below it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit, EditOutcome
from headrace.tools.new_worker.namespace.texts import Splice, spliced

_SETTING: Final = re.compile(r"(?:^#(?!\w+=).*\n)*^#?(\w+)=.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the list.

    Attributes:
        variable: Its environment variable.
        text: Its lines.
        after: The variable above it; None for the first.
    """

    variable: str
    text: str
    after: str | None


def settings_of(text: str, variables: frozenset[str]) -> tuple[Setting, ...]:
    """Return some of the settings of a list, in order."""
    return tuple(_wanted(text, variables))


def env_edit(path: PurePosixPath, settings: Sequence[Setting]) -> Edit:
    """Return the edit that puts settings into the list, each below the one that it follows, or takes them out."""

    def apply(text: str) -> EditOutcome:
        changed = text
        for setting in settings:
            places = {match[1]: match.end() for match in _SETTING.finditer(changed)}
            if setting.variable in places:
                continue
            if setting.after not in places:
                return Cannot(f"{path} has no {setting.after}, below which {setting.variable} belongs: add it by hand.")
            end = places[setting.after]
            changed = f"{changed[:end]}\n{setting.text}{changed[end:]}"
        return Done(changed) if changed != text else AlreadyThere()

    def revert(text: str) -> EditOutcome:
        ours = {setting.variable: setting.text for setting in settings}
        found = [match for match in _SETTING.finditer(text) if match[1] in ours]
        for match in found:
            if match[0] != ours[match[1]]:
                return Cannot(f"{path} says something else of {match[1]} than was put there: take it out by hand.")
        # The blank line above goes with each.
        splices = [Splice(match.start() - text.endswith("\n\n", 0, match.start()), match.end()) for match in found]
        return Done(spliced(text, splices)) if splices else AlreadyThere()

    return Edit(path, apply, revert)


def _wanted(text: str, variables: frozenset[str]) -> Iterator[Setting]:
    before: str | None = None
    for match in _SETTING.finditer(text):
        if match[1] in variables:
            yield Setting(match[1], match[0], before)
        before = match[1]
