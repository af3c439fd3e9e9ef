"""One stack trace per error, however many layers pass it on."""

import logging
from collections.abc import Iterator

_LOGGED = "__headrace_logged__"


def log_once(logger: logging.Logger, message: str, error: BaseException) -> None:
    """Logs an error with its stack trace, or in one line when it, or one of its causes, has had its trace already.

    Args:
        logger: Who speaks.
        message: What failed, as a sentence; the error's own text is added.
        error: The error; remembered as logged.
    """
    text = f"{message}: {type(error).__name__}: {error}"
    if any(getattr(link, _LOGGED, False) for link in _chain(error)):
        logger.error("%s (its stack trace is logged above)", text)
        return
    setattr(error, _LOGGED, True)
    logger.error("%s", text, exc_info=error)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors in an error that may be a group of groups, in order."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from leaves(inner)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, its causes and, where one is a group, the errors in that."""
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield from leaves(link)
        link = link.__cause__
