"""Arguments and options that several commands share, and how their texts are read."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import typer

Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")]
After = Annotated[str | None, typer.Option(metavar="ID", help="Begin after this id: the next page.")]
ItemId = Annotated[str, typer.Argument(metavar="ID", help="The work item's id.")]


ID: Final = "ID"
"""The name of the argument that is an id."""

KIND: Final = "KIND"
"""The name of the argument that is a kind of work."""


def read_id(text: str, named: str, what: str = "an id") -> UUID:
    """Return the id that the text says.

    Args:
        text: As it was given.
        named: The argument or option that it was given for.
        what: What it is the id of.

    Raises:
        typer.BadParameter: It says none.
    """
    try:
        return UUID(text)
    except ValueError:
        expected = f"expected {what} such as 01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d, got {text!r}"
        raise typer.BadParameter(expected, param_hint=named) from None


def read_optional_id(text: str | None, named: str) -> UUID | None:
    """Return the id that the text says, or None where there is no text."""
    return None if text is None else read_id(text, named)


def read_delay(text: str, option: str) -> timedelta:
    """Return the duration that the text says, such as 5m.

    Raises:
        typer.BadParameter: It says none.
    """
    from headrace.infra.settings import parse_duration  # noqa: PLC0415 - start-up stays fast

    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}, got {text!r}", param_hint=option) from None


def read_delay_from_now(text: str, option: str) -> timedelta:
    """Return the duration that the text says, where it ends at an instant that the platform can hold.

    Raises:
        typer.BadParameter: It says none, or one that ends later.
    """
    from headrace.om.encoding import LATEST  # noqa: PLC0415 - start-up stays fast

    delay = read_delay(text, option)
    if delay > LATEST - datetime.now(UTC):
        raise typer.BadParameter(f"expected one that ends before {LATEST:%Y}, got {text!r}", param_hint=option)
    return delay


def read_instant(text: str, option: str) -> datetime:
    """Return the instant that the text says, in UTC, which is meant where it names no zone.

    Raises:
        typer.BadParameter: It says none, or one that UTC's calendar does not have.
    """
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        expected = f"expected an instant such as 2026-11-30T12:00:00Z, got {text!r}"
        raise typer.BadParameter(expected, param_hint=option) from None


def one_of[Choice: StrEnum](text: str, choices: type[Choice], named: str, what: str) -> Choice:
    """Return the member of an enumeration of texts that the text names, in either case.

    Args:
        text: As it was given.
        choices: The enumeration.
        named: The argument or option that it was given for.
        what: What a member is.

    Raises:
        typer.BadParameter: It names none; the sentence lists them.
    """
    members = {each.lower(): each for each in choices}
    if text.lower() not in members:
        known = ", ".join(members.values())
        raise typer.BadParameter(f"there is no {what} {text!r}; there are: {known}", param_hint=named)
    return members[text.lower()]
