"""`headrace schedules ...`."""

from typing import Annotated

import typer

from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.options import (
    KIND,
    After,
    Json,
    Limit,
    one_of,
    read_delay,
    read_instant,
    read_optional_id,
)
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.cli.sources import read_json_object
from headrace.workers.console.views.schedules import (
    schedule_document,
    schedule_fields,
    schedules_document,
    schedules_rows,
    timing_of,
)
from headrace.workers.console.views.values import shown_instant

group = typer.Typer(help="Work that comes again and again.", no_args_is_help=True, rich_markup_mode=None)

Which = Annotated[str, typer.Argument(metavar="NAME|ID", help="The schedule's name or id.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name, unique in the org.")]
Kind = Annotated[str, typer.Argument(metavar="KIND", help="What to do, such as NOOP.")]
Cron = Annotated[str | None, typer.Option("--cron", help="Minute, hour, day, month and day of week: '30 6 * * MON'.")]
TimeZone = Annotated[
    str | None, typer.Option("--time-zone", help="Whose clock --cron goes by, such as Europe/Vienna; without it UTC.")
]
Every = Annotated[str | None, typer.Option("--every", help="In place of --cron: a tick each time this has passed.")]
Anchor = Annotated[str | None, typer.Option("--anchor", help="With --every: an instant that ticks are counted from.")]
Payload = Annotated[str, typer.Option(help="A JSON object; - reads it from standard input, @FILE from a file.")]
Lane = Annotated[str | None, typer.Option(help="The lane of its items.")]
Priority = Annotated[int, typer.Option(min=-32768, max=32767, help="Higher goes first.")]
MaxAttempts = Annotated[int | None, typer.Option(min=1, max=10_000, help="Attempts of an item at most.")]
Missed = Annotated[
    str, typer.Option("--missed", help="Ticks found late, since no worker was there: skip them, make up one, or all.")
]
MissedAfter = Annotated[str, typer.Option("--missed-after", help="A tick found later than this is missed.")]
Overlap = Annotated[
    str, typer.Option("--overlap", help="While an earlier item has not settled: allow another, or skip the tick.")
]
Disabled = Annotated[bool, typer.Option("--disabled", help="Set it up without enabling it.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="schedules")


@group.command("list")
def list_schedules(context: typer.Context, *, limit: Limit = 50, after: After = None, as_json: Json = False) -> None:
    """List schedules, newest first."""
    from headrace.workers.console.actions import schedules as actions  # noqa: PLC0415 - start-up stays fast

    begin = read_optional_id(after, "--after")
    found, next_id = ask(context, lambda session: actions.get_schedules(session, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(schedules_document(found, next_id), schedules_rows(found), *more, as_json=as_json)


@group.command("show")
def show(context: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Show one schedule with all that is known of it."""
    from headrace.workers.console.actions import schedules as actions  # noqa: PLC0415 - start-up stays fast

    found = ask(context, lambda session: actions.find(session, which))
    answer({"schedule": schedule_document(found)}, schedule_fields(found), as_json=as_json)


@group.command("add")
def add(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    name: Name,
    kind: Kind,
    *,
    cron: Cron = None,
    time_zone: TimeZone = None,
    every: Every = None,
    anchor: Anchor = None,
    payload: Payload = "{}",
    lane: Lane = None,
    priority: Priority = 0,
    max_attempts: MaxAttempts = None,
    missed: Missed = "one",
    missed_after: MissedAfter = "1m",
    overlap: Overlap = "allow",
    disabled: Disabled = False,
    as_json: Json = False,
) -> None:
    """Set up a schedule; its first tick is the first one after now."""
    from headrace.om.work.types import schedule as types  # noqa: PLC0415 - start-up stays fast
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - likewise
    from headrace.workers.console.actions import schedules as actions  # noqa: PLC0415 - likewise

    asked = {
        "name": name,
        "kind": one_of(kind, WorkKind, KIND, "kind"),
        "payload": read_json_object(payload, "--payload"),
        "lane": lane,
        "priority": priority,
        "max_attempts": max_attempts,
        "cron": cron,
        "time_zone": time_zone,
        "every": None if every is None else read_delay(every, "--every"),
        "anchor_at": None if anchor is None else read_instant(anchor, "--anchor"),
        "missed": one_of(missed, types.MissedTicks, "--missed", "way with missed ticks"),
        "missed_after": read_delay(missed_after, "--missed-after"),
        "overlap": one_of(overlap, types.Overlap, "--overlap", "way with overlaps"),
        "is_enabled": not disabled,
    }
    wished = types.WorkSchedule.model_validate({field: value for field, value in asked.items() if value is not None})
    made = ask(context, lambda session: actions.add(session, wished))
    first = f"first at {shown_instant(made.next_fire_at)}" if made.is_enabled else "disabled"
    answer({"schedule": schedule_document(made)}, Line(f"{made.name}: {timing_of(made)}, {first}"), as_json=as_json)


@group.command("enable")
def enable(context: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Let a schedule go on, from its first tick after now."""
    _enable(context, which, is_enabled=True, as_json=as_json)


@group.command("disable")
def disable(context: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Let a schedule rest; its items that are in the queue stay."""
    _enable(context, which, is_enabled=False, as_json=as_json)


@group.command("remove")
def remove(context: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Remove a schedule; its items that are in the queue stay."""
    from headrace.workers.console.actions import schedules as actions  # noqa: PLC0415 - start-up stays fast

    gone = ask(context, lambda session: actions.remove(session, which))
    answer({"schedule_id": str(gone.id)}, Line(f"schedule {gone.name} is gone"), as_json=as_json)


def _enable(context: typer.Context, which: str, *, is_enabled: bool, as_json: bool) -> None:
    from headrace.workers.console.actions import schedules as actions  # noqa: PLC0415 - start-up stays fast

    changed = ask(context, lambda session: actions.enable(session, which, is_enabled=is_enabled))
    said = f"next at {shown_instant(changed.next_fire_at)}" if is_enabled else "disabled"
    answer({"schedule": schedule_document(changed)}, Line(f"{changed.name}: {said}"), as_json=as_json)
