"""`headrace work limits ...`, `headrace work pause` and `headrace work resume`."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from headrace.workers.console.cli.entry import operate
from headrace.workers.console.cli.options import KIND, Json, one_of, read_delay, read_id, read_optional_id
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.views.controls import (
    control_document,
    controls_blocks,
    controls_document,
    limited,
    paced,
    paused,
)

if TYPE_CHECKING:
    from headrace.om.work.types.control import WorkControl, WorkPause
    from headrace.om.work.types.kinds import WorkKind

group = typer.Typer(
    help="What bounds claims, in every lane and for every org. It needs the database's system login, and no API key.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

MAX_DIGITS: Final = 18
"""Longer numbers are above every bound; Python refuses to read the longest of them."""

NONE = "none"
EACH = "each"

Kind = Annotated[str, typer.Argument(metavar="KIND", help="The kind of work.")]
AtMost = Annotated[str, typer.Argument(metavar="NUMBER|none", help="How many run at once; none ends the limit.")]
OfOrg = Annotated[str, typer.Argument(metavar="ORG|each", help="The org's id; each is each without its own limit.")]
OneKind = Annotated[str | None, typer.Option("--kind", help="Count items of this kind only.")]
Count = Annotated[str, typer.Argument(metavar="NUMBER|none", help="How many may begin in a time; none ends the rate.")]
Per = Annotated[str, typer.Option("--per", help="In what time, such as 1m.")]
Burst = Annotated[int, typer.Option("--burst", min=1, max=1_000_000, help="How many may begin at once after a rest.")]
Origin = Annotated[str, typer.Option("--origin", help="Who asks, for operators.")]
PausedLane = Annotated[str | None, typer.Option("--lane", help="This lane.")]
PausedKind = Annotated[str | None, typer.Option("--kind", help="This kind, in every lane.")]
PausedOrg = Annotated[str | None, typer.Option("--org", metavar="ID", help="This org.")]


def register(work: typer.Typer) -> None:
    """Add the commands to the group of work."""
    work.add_typer(group, name="limits")
    work.command("pause")(pause)
    work.command("resume")(resume)


@group.command("list")
def list_limits(context: typer.Context, *, as_json: Json = False) -> None:
    """List the limits, rates and pauses."""
    from headrace.workers.console.actions import controls  # noqa: PLC0415 - start-up stays fast

    found = operate(context, controls.get_controls)
    answer(controls_document(found), *controls_blocks(found), as_json=as_json)


@group.command("kind")
def of_kind(
    context: typer.Context, kind: Kind, at_most: AtMost, *, origin: Origin = "console", as_json: Json = False
) -> None:
    """Let at most so many items of a kind run at once, whoever they belong to."""
    from headrace.om.work.types.control import LimitScope, WorkLimit  # noqa: PLC0415 - start-up stays fast

    limit = WorkLimit(scope=LimitScope.KIND, kind=_kind(kind), max_running=_number(at_most) or 1)
    _say(context, limit, origin, remove=at_most == NONE, as_json=as_json)


@group.command("org")
def of_org(
    context: typer.Context,
    org: OfOrg,
    at_most: AtMost,
    *,
    kind: OneKind = None,
    origin: Origin = "console",
    as_json: Json = False,
) -> None:
    """Let at most so many items of an org, or of each org, run at once."""
    from headrace.om.work.types.control import LimitScope, WorkLimit  # noqa: PLC0415 - start-up stays fast

    limit = WorkLimit(
        scope=LimitScope.ORG,
        org_id=None if org == EACH else read_id(org, "ORG", f"{EACH}, or an org's id"),
        kind=None if kind is None else _kind(kind, "--kind"),
        max_running=_number(at_most) or 1,
    )
    _say(context, limit, origin, remove=at_most == NONE, as_json=as_json)


@group.command("key")
def of_key(
    context: typer.Context, kind: Kind, at_most: AtMost, *, origin: Origin = "console", as_json: Json = False
) -> None:
    """Let at most so many items of one concurrency key run at once; without a limit it is 1."""
    from headrace.om.work.types.control import LimitScope, WorkLimit  # noqa: PLC0415 - start-up stays fast

    limit = WorkLimit(scope=LimitScope.KEY, kind=_kind(kind), max_running=_number(at_most) or 1)
    _say(context, limit, origin, remove=at_most == NONE, as_json=as_json)


@group.command("rate")
def of_rate(
    context: typer.Context,
    kind: Kind,
    count: Count,
    *,
    per: Per = "1s",
    burst: Burst = 1,
    origin: Origin = "console",
    as_json: Json = False,
) -> None:
    """Let at most so many items of a kind begin in a time."""
    from headrace.om.work.types.control import WorkRate  # noqa: PLC0415 - start-up stays fast

    seconds = read_delay(per, "--per").total_seconds()
    if seconds <= 0:
        raise typer.BadParameter(f"expected a time above zero, got {per!r}", param_hint="--per")
    rate = WorkRate(kind=_kind(kind), per_second=(_number(count) or 1) / seconds, burst=burst)
    _say(context, rate, origin, remove=count == NONE, as_json=as_json)


def pause(
    context: typer.Context,
    *,
    lane: PausedLane = None,
    kind: PausedKind = None,
    org: PausedOrg = None,
    origin: Origin = "console",
    as_json: Json = False,
) -> None:
    """Claim nothing more of a lane, a kind or an org; what runs goes on to its end."""
    _say(context, _pause(lane, kind, org), origin, remove=False, as_json=as_json)


def resume(
    context: typer.Context,
    *,
    lane: PausedLane = None,
    kind: PausedKind = None,
    org: PausedOrg = None,
    as_json: Json = False,
) -> None:
    """Claim from a lane, a kind or an org again."""
    _say(context, _pause(lane, kind, org), "", remove=True, as_json=as_json)


def _say(context: typer.Context, control: "WorkControl", origin: str, *, remove: bool, as_json: bool) -> None:
    from headrace.workers.console.actions import controls  # noqa: PLC0415 - start-up stays fast

    if remove:
        was_said = operate(context, lambda operation: controls.remove_control(operation, control))
        said = f"no more: {_told(control)}" if was_said else "nothing was said about that"
        answer({"was_said": was_said}, Line(said), as_json=as_json)
        return
    operate(context, lambda operation: controls.set_control(operation, control, origin))
    answer({"control": control_document(control)}, Line(_told(control, with_number=True)), as_json=as_json)


def _told(control: "WorkControl", *, with_number: bool = False) -> str:
    from headrace.om.work.types.control import WorkLimit, WorkRate  # noqa: PLC0415 - start-up stays fast

    if isinstance(control, WorkLimit):
        number = f", at most {control.max_running}" if with_number else ""
        return f"running of {limited(control)}{number}"
    if isinstance(control, WorkRate):
        number = f", at most {paced(control)}" if with_number else ""
        return f"beginning of kind {control.kind}{number}"
    return f"paused {paused(control)}"


def _pause(lane: str | None, kind: str | None, org: str | None) -> "WorkPause":
    from headrace.om.work.types.control import WorkPause  # noqa: PLC0415 - start-up stays fast

    if sum(each is not None for each in (lane, kind, org)) != 1:
        raise typer.BadParameter("expected exactly one of them", param_hint="--lane, --kind, --org")
    return WorkPause(
        lane=lane, kind=None if kind is None else _kind(kind, "--kind"), org_id=read_optional_id(org, "--org")
    )


def _kind(text: str, named: str = KIND) -> "WorkKind":
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - start-up stays fast

    return one_of(text, WorkKind, named, "kind")


def _number(text: str) -> int | None:
    """Return the number that the text says, or None where it says none.

    Raises:
        typer.BadParameter: It says neither, or a number of more than `MAX_DIGITS` digits.
    """
    if text == NONE:
        return None
    if text.isdigit() and len(text) > MAX_DIGITS:
        raise typer.BadParameter(f"expected at most {MAX_DIGITS} digits, got {len(text)}", param_hint="NUMBER")
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise typer.BadParameter(f"expected a number from 1 on, or {NONE}, got {text!r}", param_hint="NUMBER")
    return int(text)
