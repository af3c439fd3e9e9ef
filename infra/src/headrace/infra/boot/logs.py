"""Standard logging with the process's and the work's identifiers on every line."""

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TextIO, override

from headrace.infra.boot.log_context import CONTEXT_FIELDS, current_log_context

# They log every request at INFO, with its URL.
_TALKATIVE = ("httpx", "httpcore", "urllib3")


def configure_logging(
    *, service: str, environment: str, level: str, style: Literal["human", "json"], stream: TextIO | None = None
) -> Callable[[], None]:
    """Sends all logging of the process to one stream, and Python's warnings with it.

    Args:
        service: On every line.
        environment: On every line.
        level: Name of the lowest level that is written.
        style: One JSON object a line, or text for a person.
        stream: Standard error when not given.

    Returns:
        A function that takes it back; other handlers are left as they are.
    """
    root = logging.getLogger()
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_Identifiers(service, environment))
    handler.setFormatter(_json_formatter() if style == "json" else _HumanFormatter())
    former = {each: logging.getLogger(each).level for each in (*_TALKATIVE, None)}
    root.addHandler(handler)
    root.setLevel(level)
    for each in _TALKATIVE:
        logging.getLogger(each).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)

    def undo() -> None:
        logging.captureWarnings(capture=False)
        for each, former_level in former.items():
            logging.getLogger(each).setLevel(former_level)
        root.removeHandler(handler)
        handler.flush()

    return undo


class _Identifiers(logging.Filter):
    """Completes each record where it is written, so that every logger's lines have all identifiers."""

    def __init__(self, service: str, environment: str) -> None:
        super().__init__()
        self._process = {"service": service, "environment": environment}

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        known = {**self._process, **current_log_context()}
        for name in (*self._process, *CONTEXT_FIELDS):
            value = getattr(record, name, known.get(name))
            setattr(record, name, None if value is None else str(value))
        return True


class _HumanFormatter(logging.Formatter):
    """Time, level, process, logger, message, then the identifiers that are known."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(service)s/%(environment)s %(name)s: %(message)s")

    @override
    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created, UTC).isoformat(sep=" ", timespec="milliseconds")

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        known = (f" {name}={value}" for name in CONTEXT_FIELDS if (value := getattr(record, name, None)) is not None)
        return super().formatMessage(record) + "".join(known)


def _json_formatter() -> logging.Formatter:
    from pythonjsonlogger.json import JsonFormatter  # noqa: PLC0415 - costs nothing where lines are for people

    return JsonFormatter(
        ("levelname", "name", "message", "service", "environment", *CONTEXT_FIELDS),
        style="sequence",
        rename_fields={"levelname": "level", "name": "logger", "exc_info": "exception"},
        timestamp=True,
    )
