"""`headrace work ...`."""

from dataclasses import replace
from typing import Annotated

import typer

from headrace.workers.console.cli import bundles, controls
from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.filters import (
    BundleFilterOption,
    FilterWords,
    HasError,
    KindFilter,
    Lane,
    OriginFilter,
    StartedBefore,
    StatusFilter,
)
from headrace.workers.console.cli.options import (
    ID,
    KIND,
    After,
    ItemId,
    Json,
    Limit,
    one_of,
    read_delay,
    read_delay_from_now,
    read_id,
    read_optional_id,
)
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.cli.sources import read_json_object
from headrace.workers.console.views.bundles import bundle_document, bundle_fields
from headrace.workers.console.views.work import (
    item_document,
    item_fields,
    items_document,
    items_rows,
    retried_document,
    retried_line,
)

group = typer.Typer(help="Work items.", no_args_is_help=True, rich_markup_mode=None)

Kind = Annotated[str, typer.Argument(metavar="KIND", help="What to do, such as NOOP.")]
Payload = Annotated[str, typer.Option(help="A JSON object; - reads it from standard input, @FILE from a file.")]
Priority = Annotated[int | None, typer.Option(min=-32768, max=32767, help="Higher goes first.")]
Delay = Annotated[str, typer.Option(help="Not before this long from now, such as 5m.")]
Key = Annotated[str | None, typer.Option(help="Idempotency key: a second enqueue under it finds the first.")]
UniqueFor = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD", help="While an unsettled item of the kind agrees in this payload field, find that."),
]
ConcurrencyKey = Annotated[
    str | None,
    typer.Option(help="Only so many items of one key run at once: one, where no limit says more."),
]
OrderingKey = Annotated[
    str | None,
    typer.Option(help="Items of one key run one at a time, in the order in which they became due."),
]
MaxAttempts = Annotated[int | None, typer.Option(min=1, max=10_000, help="Attempts at most.")]
Origin = Annotated[str, typer.Option(help="Who asks, for operators.")]
ByFilter = Annotated[bool, typer.Option("--filter", help="Retry every settled item that the other options choose.")]
OptionalItemId = Annotated[str | None, typer.Argument(metavar="[ID]", help="The work item's id.")]
ForBundle = Annotated[bool, typer.Option("--bundle", help="The id is a bundle's.")]
Timeout = Annotated[str, typer.Option(help="How long to wait at most, such as 5m.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group.add_typer(bundles.group, name="bundles")
    controls.register(group)
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
    unique_for: UniqueFor = None,
    concurrency_key: ConcurrencyKey = None,
    ordering_key: OrderingKey = None,
    max_attempts: MaxAttempts = None,
    origin: Origin = "console",
    as_json: Json = False,
) -> None:
    """Put a work item in the queue."""
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wish = work.WorkWish(
        kind=one_of(kind, WorkKind, KIND, "kind"),
        payload=read_json_object(payload, "--payload"),
        origin=origin,
        delay=read_delay_from_now(delay, "--delay"),
        lane=lane,
        priority=priority,
        idempotency_key=key,
        max_attempts=max_attempts,
        unique_for=tuple(unique_for) if unique_for else None,
        concurrency_key=concurrency_key,
        ordering_key=ordering_key,
    )
    item, is_new = ask(context, lambda session: work.enqueue(session, wish))
    there = "was there already under its key" if key and item.idempotency_key == key else "was there already"
    said = f"{'enqueued' if is_new else there}: {item.kind} {item.id}, {item.status}"
    answer({"item": item_document(item), "is_new": is_new}, Line(said), as_json=as_json)


@group.command("list")
def list_items(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    *,
    status: StatusFilter = None,
    kind: KindFilter = None,
    lane: Lane = None,
    origin: OriginFilter = None,
    bundle: BundleFilterOption = None,
    started_before: StartedBefore = None,
    has_error: HasError = None,
    limit: Limit = 50,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List work items, newest first."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    where = FilterWords(status, kind, lane, origin, bundle, started_before, has_error).read()
    begin = read_optional_id(after, "--after")
    items, next_id = ask(context, lambda session: work.get_items(session, where, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(items_document(items, next_id), items_rows(items), *more, as_json=as_json)


@group.command("show")
def show(context: typer.Context, item_id: ItemId, *, as_json: Json = False) -> None:
    """Show one work item with all that is known of it."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(item_id, ID)
    item = ask(context, lambda session: work.get_item(session, wanted))
    answer({"item": item_document(item)}, item_fields(item), as_json=as_json)


@group.command("retry")
def retry(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    item_id: OptionalItemId = None,
    *,
    by_filter: ByFilter = False,
    status: StatusFilter = None,
    kind: KindFilter = None,
    lane: Lane = None,
    origin: OriginFilter = None,
    bundle: BundleFilterOption = None,
    started_before: StartedBefore = None,
    has_error: HasError = None,
    limit: Limit = 1000,
    after: After = None,
    as_json: Json = False,
) -> None:
    """Queue a settled item again, with fresh attempts; with --filter many, failed ones where no status is given."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    if by_filter == (item_id is not None):
        raise typer.BadParameter("expected the id of one item, or --filter with what chooses many", param_hint=ID)
    words = FilterWords(status, kind, lane, origin, bundle, started_before, has_error)
    if item_id is not None:
        _refuse_filter(words)
        wanted = read_id(item_id, ID)
        item = ask(context, lambda session: work.retry(session, wanted))
        answer({"item": item_document(item)}, Line(f"{item.kind} {item.id} is {item.status} again"), as_json=as_json)
        return
    where, begin = replace(words, status=status or "failed").read(), read_optional_id(after, "--after")
    retried, next_id = ask(context, lambda session: work.retry_many(session, where, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(retried_document(retried, next_id), retried_line(retried), *more, as_json=as_json)


def _refuse_filter(words: FilterWords) -> None:
    if words != FilterWords():
        raise typer.BadParameter("expected none beside options that choose many, which go with --filter", param_hint=ID)


@group.command("delete-finished")
def delete_finished(  # noqa: PLR0913 - the options of the command line
    context: typer.Context,
    *,
    status: StatusFilter = None,
    kind: KindFilter = None,
    lane: Lane = None,
    origin: OriginFilter = None,
    bundle: BundleFilterOption = None,
    started_before: StartedBefore = None,
    has_error: HasError = None,
    limit: Limit = 1000,
    as_json: Json = False,
) -> None:
    """Remove settled work items, oldest first."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    where = FilterWords(status, kind, lane, origin, bundle, started_before, has_error).read()
    num_deleted = ask(context, lambda session: work.delete_finished(session, where, limit))
    more = (Line("there may be more: run it again"),) if num_deleted == limit else ()
    answer({"num_deleted": num_deleted}, Line(f"{num_deleted} items are gone"), *more, as_json=as_json)


@group.command("wait")
def wait(
    context: typer.Context,
    item_id: ItemId,
    *,
    for_bundle: ForBundle = False,
    timeout: Timeout = "1m",
    as_json: Json = False,
) -> None:
    """Wait until a work item has settled, however it ends, or with --bundle until all items of a bundle have."""
    from headrace.workers.console.actions import bundles as bundle_actions  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions import work  # noqa: PLC0415 - likewise

    wanted, limit = read_id(item_id, ID), read_delay(timeout, "--timeout")
    if for_bundle:
        bundle = ask(context, lambda session: bundle_actions.wait(session, wanted, limit))
        answer({"bundle": bundle_document(bundle)}, bundle_fields(bundle), as_json=as_json)
        return
    item = ask(context, lambda session: work.wait(session, wanted, limit))
    answer({"item": item_document(item)}, Line(f"{item.kind} {item.id} is {item.status}"), as_json=as_json)


@group.command("cancel")
def cancel(context: typer.Context, item_id: ItemId, *, as_json: Json = False) -> None:
    """Cancel a queued work item, or ask the worker that holds it to stop."""
    from headrace.workers.console.actions import work  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(item_id, ID)
    item = ask(context, lambda session: work.cancel(session, wanted))
    done = f"is {item.status}" if item.cancel_requested_at is None else f"is {item.status}: its worker is asked to stop"
    said = "is cancelled" if item.settled_at is not None else done
    answer({"item": item_document(item)}, Line(f"{item.kind} {item.id} {said}"), as_json=as_json)
