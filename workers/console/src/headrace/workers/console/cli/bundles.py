"""`headrace work bundles ...`."""

from typing import Annotated

import typer

from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.options import ID, After, Json, Limit, one_of, read_id, read_optional_id
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.views.bundles import bundle_document, bundle_fields, bundles_document, bundles_rows

group = typer.Typer(help="Bundles of work items.", no_args_is_help=True, rich_markup_mode=None)

BundleId = Annotated[str, typer.Argument(metavar="ID", help="The bundle's id.")]
Status = Annotated[str | None, typer.Option("--status", help="Only bundles that are open, or settled.")]
Kind = Annotated[str | None, typer.Option("--kind", help="Only bundles of this kind.")]
Origin = Annotated[str | None, typer.Option("--origin", help="Only bundles of this origin.")]


@group.command("list")
def list_bundles(
    context: typer.Context,
    *,
    status: Status = None,
    kind: Kind = None,
    origin: Origin = None,
    limit: Limit = 50,
    after: After = None,
    as_json: Json = False,
) -> None:
    """List bundles, newest first."""
    from headrace.om.work.types.bundle import BundleFilter, BundleStatus  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions import bundles as actions  # noqa: PLC0415 - start-up stays fast

    wanted = None if status is None else one_of(status, BundleStatus, "--status", "status")
    where = BundleFilter(status=wanted, kind=kind, origin=origin)
    begin = read_optional_id(after, "--after")
    found, next_id = ask(context, lambda session: actions.get_bundles(session, where, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(bundles_document(found, next_id), bundles_rows(found), *more, as_json=as_json)


@group.command("show")
def show(context: typer.Context, bundle_id: BundleId, *, as_json: Json = False) -> None:
    """Show one bundle and how far it is; `headrace work list --bundle ID` shows its items."""
    from headrace.workers.console.actions import bundles as actions  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(bundle_id, ID, "a bundle's id")
    bundle = ask(context, lambda session: actions.get_bundle(session, wanted))
    answer({"bundle": bundle_document(bundle)}, bundle_fields(bundle), as_json=as_json)


@group.command("delete")
def delete(context: typer.Context, bundle_id: BundleId, *, as_json: Json = False) -> None:
    """Remove a bundle with all of its items, unless one is claimed."""
    from headrace.workers.console.actions import bundles as actions  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(bundle_id, ID, "a bundle's id")
    ask(context, lambda session: actions.delete_bundle(session, wanted))
    answer({"bundle_id": str(wanted)}, Line(f"bundle {wanted} is gone, and so are its items"), as_json=as_json)
