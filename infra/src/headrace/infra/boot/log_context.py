"""The identifiers that every log line of one piece of work carries."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

CONTEXT_FIELDS = ("request_id", "caused_by_request_id", "org_id", "item_id")
"""The identifiers, in the order in which they are shown."""

_NOTHING: Mapping[str, object] = MappingProxyType({})
_current: ContextVar[Mapping[str, object]] = ContextVar("headrace_log_context", default=_NOTHING)


@contextmanager
def log_context(
    *,
    request_id: object | None = None,
    caused_by_request_id: object | None = None,
    org_id: object | None = None,
    item_id: object | None = None,
) -> Iterator[None]:
    """Puts identifiers on every line logged in the body, also by the asyncio tasks and threads it starts.

    What was there before is back afterwards, however the body ends.

    Args:
        request_id: Of the request, or the run, under way; None keeps that of the surrounding context, as below.
        caused_by_request_id: Of the request that caused it.
        org_id: The org it is done for.
        item_id: The work item.
    """
    given = {
        "request_id": request_id,
        "caused_by_request_id": caused_by_request_id,
        "org_id": org_id,
        "item_id": item_id,
    }
    # Most runs log no line: what they are is spelt out only for one that does.
    known = {name: value for name, value in given.items() if value is not None}
    token = _current.set({**_current.get(), **known})
    try:
        yield
    finally:
        _current.reset(token)


def current_log_context() -> Mapping[str, str]:
    """The identifiers known here, by field; read-only."""
    return MappingProxyType({name: str(value) for name, value in _current.get().items()})
