"""An edit of a list in a Markdown page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit, EditOutcome

_ITEM: Final = re.compile(r"^- .*\n(?:[ \t]+\S.*\n)*", re.MULTILINE)
_NOUN: Final = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list that links to a page.

    Attributes:
        link: The page.
        text: The item, whole lines.
        after: What the item before it is about: its first words in bold; None for the first of the page.
    """

    link: str
    text: str
    after: str | None


def item_linking_to(text: str, link: str) -> ListItem | None:
    """Return the item of a page that links to another page; None where none does."""
    before: str | None = None
    for match in _ITEM.finditer(text):
        if _links_to(match[0], link):
            return ListItem(link, match[0], before)
        before = _noun_of(match[0])
    return None


def markdown_edit(path: PurePosixPath, item: ListItem) -> Edit:
    """Return the edit that puts an item into a page behind the one that it follows, or takes it out."""

    def apply(text: str) -> EditOutcome:
        if item_linking_to(text, item.link):
            return AlreadyThere()
        places = list(_places(text, item.after))
        if len(places) != 1:
            sought = f"about **{item.after}**" if item.after else "at all"
            return Cannot(
                f"{path} has {'no' if not places else 'more than one'} list item {sought}, behind which the link to"
                f" {item.link} belongs: put it there by hand."
            )
        return Done(text[: places[0]] + item.text + text[places[0] :])

    def revert(text: str) -> EditOutcome:
        found = [match for match in _ITEM.finditer(text) if _links_to(match[0], item.link)]
        if not found:
            return AlreadyThere()
        if len(found) > 1:
            return Cannot(f"{path} links to {item.link} from more than one list item: take the right one out by hand.")
        return Done(text[: found[0].start()] + text[found[0].end() :])

    return Edit(path, apply, revert)


def _places(text: str, after: str | None) -> Iterator[int]:
    """Yield where an item may go."""
    items = list(_ITEM.finditer(text))
    if after is None:
        yield from (match.start() for match in items[:1])
    else:
        yield from (match.end() for match in items if _noun_of(match[0]) == after)


def _links_to(item: str, link: str) -> bool:
    return f"]({link})" in item


def _noun_of(item: str) -> str:
    found = _NOUN.search(item)
    return found[1] if found else item
