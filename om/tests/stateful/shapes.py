"""What the machine draws: items of few kinds, lanes and keys, so that they meet.

Every span of time is an odd number of five minutes, and time passes in tens of minutes: whatever a slow machine adds
to it, nothing comes due at an instant that somebody looks at.
"""

from datetime import timedelta
from typing import Any, Final

from hypothesis import strategies as st

LANES: Final = ("default", "other")
KINDS: Final = ("NOOP", "DELIVER_WEBHOOK")

SPANS: Final = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 45))
"""Of leases, delays and retention."""

PASSING: Final = tuple(timedelta(minutes=minutes) for minutes in (10, 20, 60))
"""How much time passes at once."""

STAGGER: Final = timedelta(seconds=1)
"""Passes after a sweep, so that everything that it queued is due."""

RETRIED: Final = timedelta(minutes=10)
"""Passes after a failure with the kind's own delay, which is seconds."""

SKEWS: Final = tuple(timedelta(hours=hours) for hours in (-1, 0, 1))

places = st.integers(0, 11)
"""Which one of several."""

spans = st.sampled_from(SPANS)


def _mostly_none(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from((None, None, None, *values))


def _keys(drawn: tuple[str, str | None]) -> dict[str, str | None]:
    which, key = drawn
    return {"concurrency_key": key if which == "c" else None, "ordering_key": key if which == "o" else None}


shapes: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda fields, keys: {**fields, **keys},
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from((*KINDS, KINDS[0])),
            "lane": st.sampled_from((*LANES, *(LANES[0],) * 3)),
            "priority": st.sampled_from((0, 0, 0, 5, -5)),
            "delay": st.sampled_from((timedelta(0),) * 4 + SPANS[1:]),
            "max_attempts": st.integers(1, 3),
            "key": _mostly_none("k1", "k2"),
            "unique": _mostly_none("a", "b"),
        }
    ),
    st.tuples(st.sampled_from("co"), _mostly_none("x", "y")).map(_keys),
)
"""What an item asks for, but its id."""

wishes = st.fixed_dictionaries(
    {
        "lane": st.sampled_from((*LANES, *(LANES[0],) * 3)),
        "kinds": st.sampled_from((frozenset(KINDS), frozenset(KINDS), frozenset(KINDS[:1]), frozenset(KINDS[1:]))),
        "limit": st.integers(1, 5),
        "lease": spans,
    }
)
"""What a worker claims."""
