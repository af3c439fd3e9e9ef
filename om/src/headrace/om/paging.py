"""The bound of every read that returns a list."""

from collections.abc import Awaitable, Callable
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


def checked_limit(limit: int, *, at_most: int = MAX_PAGE) -> int:
    """Return the limit when it is one to ask for.

    Raises:
        ValidationFailed: It is below 1 or above what one read returns.
    """
    if not 1 <= limit <= at_most:
        raise ValidationFailed("limit", f"1 to {at_most}, got {limit}")
    return limit


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
