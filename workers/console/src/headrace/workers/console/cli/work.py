"""`headrace work ...`."""

from typing import Annotated

import typer

from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.options import (
    After,
    ItemId,
    Json,
    Limit,
    one_of,
    read_delay,
    read_id,
    read_instant,
    read_optional_id,
)
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.cli.sources import read_json_object
from headrace.workers.console.views.work import item_document, item_fields, items_document, items_rows

group = typer.Typer(help="Work items.", no_args_is_help=True, rich_markup_mode=None)

Kind = Annotated[str, typer.Argument(metavar="KIND", help="What to do, such as NOOP.")]
Payload = Annotated[str, typer.Option(help="A JSON object; - reads it from standard input, @FILE from a file.")]
Lane = Annotated[str | None, typer.Option(help="The lane.")]
Priority = Annotated[int | None, typer.Option(min=-32768, max=32767, help="Higher goes first.")]
Delay = Annotated[str, typer.Option(help="Not before this long from now, such as 5m.")]
Key = Annotated[str | None, typer.Option(help="Idempotency key: a second enqueue under it finds the first.")]
MaxAttempts = Annotated[int | None, typer.Option(min=1, max=10_000, help="Attempts at most.")]
Origin = Annotated[str, typer.Option(help="Who asks, for operators.")]
StatusFilter = Annotated[str | None, typer.Option("--status", help="Only items of this status.")]
KindFilter = Annotated[str | None, typer.Option("--kind", help="Only items of this kind.")]
OriginFilter = Annotated[str | None, typer.Option("--origin", help="Only items of this origin.")]
StartedBefore = Annotated[str | None, typer.Option(metavar="INSTANT", help="Only items first claimed before this.")]
HasError = Annotated[bool | None, typer.Option("--with-error/--without-error", help="Only items with, or without.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="work")


@group.command("enqueue")
def enqueue(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    kind: Kind,
    *,
    payload: Payload = "{}",
    lane: Lane = None,
    priority: Priority = None,
    delay: Delay = "0s",
    key: Key = None,
    max_attempts: MaxAttempts = None,
    origin: Origin = "console",
    as_json: Json = False,
) -> None:
    """Put a work item in the queue."""
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wish = work.WorkWish(
        kind=one_of(kind, WorkKind, "kind"),
        payload=read_json_object(payload, "--payload"),
        origin=origin,
        delay=read_delay(delay),
        lane=lane,
        priority=priority,
        idempotency_key=key,
        max_attempts=max_attempts,
    )
    item, is_new = ask(context, lambda session: work.enqueue(session, wish))
    said = f"{'enqueued' if is_new else 'was there already under its key'}: {item.kind} {item.id}, {item.status}"
    answer({"item": item_document(item), "is_new": is_new}, Line(said), as_json=as_json)


@group.command("list")
def list_items(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    *,
    status: StatusFilter = None,
    kind: KindFilter = None,
    lane: Lane = None,
    origin: OriginFilter = None,
    started_before: StartedBefore = None,
    has_error: HasError = None,
    limit: Limit = 50,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List work items, newest first."""
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - start-up stays fast
    from headrace.om.work.types.queries import WorkFilter  # noqa: PLC0415 - start-up stays fast
    from headrace.om.work.types.work_item import WorkStatus  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    where = WorkFilter(
        status=None if status is None else one_of(status, WorkStatus, "status"),
        kind=None if kind is None else one_of(kind, WorkKind, "kind"),
        lane=lane,
        origin=origin,
        started_before=None if started_before is None else read_instant(started_before, "--started-before"),
        has_error=has_error,
    )
    begin = read_optional_id(after)
    items, next_id = ask(context, lambda session: work.get_items(session, where, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(items_document(items, next_id), items_rows(items), *more, as_json=as_json)


@group.command("show")
def show(context: typer.Context, item_id: ItemId, *, as_json: Json = False) -> None:
    """Show one work item with all that is known of it."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(item_id)
    item = ask(context, lambda session: work.get_item(session, wanted))
    answer({"item": item_document(item)}, item_fields(item), as_json=as_json)


@group.command("retry")
def retry(context: typer.Context, item_id: ItemId, *, as_json: Json = False) -> None:
    """Queue a settled work item again, with fresh attempts."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(item_id)
    item = ask(context, lambda session: work.retry(session, wanted))
    answer({"item": item_document(item)}, Line(f"{item.kind} {item.id} is {item.status} again"), as_json=as_json)


@group.command("cancel")
def cancel(context: typer.Context, item_id: ItemId, *, as_json: Json = False) -> None:
    """Cancel a queued work item, or ask the worker that holds it to stop."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(item_id)
    item = ask(context, lambda session: work.cancel(session, wanted))
    done = f"is {item.status}" if item.cancel_requested_at is None else f"is {item.status}: its worker is asked to stop"
    said = "is cancelled" if item.settled_at is not None else done
    answer({"item": item_document(item)}, Line(f"{item.kind} {item.id} {said}"), as_json=as_json)
