import asyncio
import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from headrace.infra.boot.log_context import current_log_context, log_context
from headrace.infra.boot.logs import configure_logging

logger = logging.getLogger("headrace.tests.logs")


@contextmanager
def logging_to(
    stream: io.StringIO, style: Literal["human", "json"] = "json", level: str = "INFO"
) -> Iterator[io.StringIO]:
    undo = configure_logging(service="notifier", environment="test", level=level, style=style, stream=stream)
    try:
        yield stream
    finally:
        undo()


def parsed(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_json_line_has_every_identifier_known_or_not() -> None:
    with logging_to(io.StringIO()) as stream:
        logger.info("claimed %d", 3)
    (line,) = parsed(stream)
    assert line.pop("timestamp").endswith("+00:00")
    assert line == {
        "level": "INFO",
        "logger": "headrace.tests.logs",
        "message": "claimed 3",
        "service": "notifier",
        "environment": "test",
        "request_id": None,
        "caused_by_request_id": None,
        "org_id": None,
        "item_id": None,
    }


def test_a_line_carries_the_identifiers_of_its_context() -> None:
    with logging_to(io.StringIO()) as stream, log_context(request_id="r", caused_by_request_id="c"):
        with log_context(org_id="o", item_id="i"):
            logger.info("inner")
        logger.info("outer")
    inner, outer = parsed(stream)
    assert [inner[name] for name in ("request_id", "caused_by_request_id", "org_id", "item_id")] == list("rcoi")
    assert (outer["request_id"], outer["org_id"]) == ("r", None)


def test_the_context_is_reset_when_the_body_fails() -> None:
    with pytest.raises(ValueError, match="broken"), log_context(org_id="o"):
        raise ValueError("broken")
    assert current_log_context() == {}


async def test_two_runs_at_once_do_not_mix_their_identifiers() -> None:
    both_inside = asyncio.Barrier(2)

    async def run(item: str) -> str:
        with log_context(item_id=item):
            await both_inside.wait()
            return current_log_context()["item_id"]

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        runs = [group.create_task(run(item)) for item in ("a", "b")]
    assert [each.result() for each in runs] == ["a", "b"]
    assert current_log_context() == {}


def test_a_json_error_is_one_line_with_its_trace() -> None:
    with logging_to(io.StringIO()) as stream:
        try:
            int("broken\nin two lines")
        except ValueError:
            logger.exception("failed")
    (line,) = parsed(stream)
    assert "ValueError: invalid literal" in line["exception"]


def test_extra_fields_of_any_type_can_be_written() -> None:
    with logging_to(io.StringIO()) as stream:
        logger.info("claimed", extra={"num": 3, "odd": object(), "org_id": "given"})
    (line,) = parsed(stream)
    assert (line["num"], line["org_id"]) == (3, "given")
    assert "object" in line["odd"]


def test_a_human_line_shows_the_process_and_the_known_identifiers() -> None:
    with logging_to(io.StringIO(), "human") as stream, log_context(org_id="o"):
        logger.warning("late")
    assert stream.getvalue().endswith("WARNING notifier/test headrace.tests.logs: late org_id=o\n")


def test_lines_below_the_level_and_of_talkative_libraries_are_not_written() -> None:
    with logging_to(io.StringIO()) as stream:
        logger.debug("detail")
        logging.getLogger("httpx").info("GET https://secret.example")
    assert stream.getvalue() == ""


def test_warnings_of_libraries_are_logged() -> None:
    with logging_to(io.StringIO()) as stream, warnings.catch_warnings():
        logging.captureWarnings(capture=False)
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    (line,) = parsed(stream)
    assert (line["logger"], line["level"]) == ("py.warnings", "WARNING")


def test_logging_is_as_before_once_taken_back() -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("httpx").level)
    with logging_to(io.StringIO(), level="DEBUG"):
        assert root.level == logging.DEBUG
    assert (root.level, list(root.handlers), logging.getLogger("httpx").level) == before
