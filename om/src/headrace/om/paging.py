"""The bound of every read that returns a list."""

from typing import Final

from headrace.om.exceptions import ValidationFailed

MAX_PAGE: Final = 1000
"""The most records that one read returns."""

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
