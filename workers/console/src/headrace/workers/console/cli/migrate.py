"""`headrace migrate`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.workers.console.cli.entry import entry_of
from headrace.workers.console.cli.options import Json
from headrace.workers.console.cli.screen import Line, answer, progress
from headrace.workers.console.views.schemas import schemas_document, schemas_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.workers.console.actions.migrating import RoleSchema
    from headrace.workers.console.settings import ConsoleSettings

Check = Annotated[
    bool,
    typer.Option("--check", help="Change nothing; name what is pending or differs from the code, and exit 1."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate(context: typer.Context, *, check: Check = False, as_json: Json = False) -> None:
    """Bring the schema of every database role up to date."""
    settings = entry_of(context).settings()
    schemas, differences = asyncio.run(_checked(settings)) if check else (_migrated(settings), ())
    lines = tuple(Line(each) for each in differences)
    answer(schemas_document(schemas, differences), schemas_rows(schemas), *lines, as_json=as_json)
    if differences or any(str(schema.state) != "current" for schema in schemas):
        raise typer.Exit(1)


async def _checked(settings: "ConsoleSettings") -> "tuple[tuple[RoleSchema, ...], tuple[str, ...]]":
    from headrace.workers.console.actions import migrating  # noqa: PLC0415 - start-up stays fast

    schemas = await migrating.read_schemas(settings)
    return schemas, await migrating.read_differences(settings, schemas)


def _migrated(settings: "ConsoleSettings") -> "tuple[RoleSchema, ...]":
    from headrace.workers.console.actions.migrating import migrate_all  # noqa: PLC0415 - start-up stays fast

    with progress("migrating") as bar:

        def tell(roles: "Sequence[str]", done: int) -> None:
            bar.move(f"migrating {', '.join(roles[done:])}", done, len(roles))

        return asyncio.run(migrate_all(settings, tell))
