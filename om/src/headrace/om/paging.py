"""The bounds of reads that return a list, and of sweeps."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field

from headrace.om.exceptions import Unavailable, ValidationFailed

MAX_PAGE: Final = 1000
"""The most records that one read returns."""

SoughtText = Annotated[str, Field(max_length=100, pattern=r"\A[^\x00]*\z")]
"""What a filter may look for: no text with a NUL is ever stored, so asking for one is a mistake."""

MAX_PAGES: Final = 10_000
"""Where `all_ids` gives up: ten million ids."""

DEFAULT_SWEEP_LIMIT: Final = 1000
"""Records of one tenant that one statement of the sweep moves; what is left is met by the next one."""

MAX_AGE: Final = timedelta(days=36_500)
"""The oldest that a sweep may ask for: every instant that is stored, less this, is an instant still."""


def checked_limit(limit: int, *, at_most: int = MAX_PAGE) -> int:
    """Return the limit when it is one to ask for.

    Raises:
        ValidationFailed: It is below 1 or above what one read returns.
    """
    if not 1 <= limit <= at_most:
        raise ValidationFailed("limit", f"1 to {at_most}, got {limit}")
    return limit


def checked_age(older_than: timedelta) -> timedelta:
    """Return the age when it is one that a sweep may ask for.

    Raises:
        ValidationFailed: It is below zero or above `MAX_AGE`.
    """
    if not timedelta(0) <= older_than <= MAX_AGE:
        raise ValidationFailed("older_than", f"a duration from 0 to {MAX_AGE.days} days, got {older_than}")
    return older_than


async def all_ids(read: Callable[[int, UUID | None], Awaitable[tuple[UUID, ...]]]) -> list[UUID]:
    """Return every id that a paged read has, in its order.

    Args:
        read: Takes how many at most and the id to go on behind, None at first; returns a page.

    Raises:
        Unavailable: There are more than `MAX_PAGES` full pages.
    """
    ids: list[UUID] = []
    for _ in range(MAX_PAGES):
        page = await read(MAX_PAGE, ids[-1] if ids else None)
        ids += page
        if len(page) < MAX_PAGE:
            return ids
    raise Unavailable(f"more than {MAX_PAGES * MAX_PAGE} ids in one read")
