"""`headrace seed`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.workers.console.cli.entry import Entry, entry_of
from headrace.workers.console.cli.options import Json
from headrace.workers.console.cli.screen import answer
from headrace.workers.console.views.seeds import seeded_document, seeded_fields

if TYPE_CHECKING:
    from headrace.workers.console.actions.seeding import Seeded, SeedPlan

Org = Annotated[str, typer.Option("--org", help="The org's name; the same name finds the same org again.")]
Owner = Annotated[str, typer.Option("--owner", help="The owner's login name.")]
Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Put HEADRACE_API_KEY into this file instead of showing the token."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("seed")(seed)


def seed(
    context: typer.Context,
    *,
    org: Org = "local",
    owner: Owner = "local-owner",
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Make an org, its owner and an API key, each where it is missing.

    The token of a new key is shown this once, or stored; whoever reads it may do everything in the org.
    """
    from headrace.workers.console.actions.seeding import SeedPlan  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.local_env import set_variables  # noqa: PLC0415 - start-up stays fast

    seeded = asyncio.run(_seeded(entry_of(context), SeedPlan(org_name=org, login_name=owner)))
    if store is not None:
        set_variables(store, {"HEADRACE_API_KEY": seeded.token.get_secret_value()})
    answer(seeded_document(seeded, store), seeded_fields(seeded, store), as_json=as_json)


async def _seeded(entry: Entry, plan: "SeedPlan") -> "Seeded":
    from headrace.workers.console.actions import seeding  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.actions.session import new_request  # noqa: PLC0415 - start-up stays fast

    container = entry.build(entry.settings())
    async with container.opened():
        settings = container.settings
        return await seeding.seed(container.managers.tenancy, new_request(settings), plan, settings.api_key)
