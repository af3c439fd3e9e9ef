"""`headrace webhooks ...`."""

from typing import Annotated

import typer

from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.options import ID, After, Json, Limit, read_id, read_optional_id
from headrace.workers.console.cli.screen import Line, answer
from headrace.workers.console.cli.sources import read_json_text
from headrace.workers.console.views.webhooks import (
    added_document,
    added_fields,
    endpoint_document,
    endpoints_document,
    endpoints_rows,
    published_blocks,
    published_document,
)

group = typer.Typer(help="Webhook endpoints and messages.", no_args_is_help=True, rich_markup_mode=None)
endpoints = typer.Typer(help="Where events go.", no_args_is_help=True, rich_markup_mode=None)
group.add_typer(endpoints, name="endpoint")

Url = Annotated[str, typer.Argument(metavar="URL", help="Where to post, https or http.")]
Events = Annotated[list[str] | None, typer.Option("--event", help="Only this event type; give it again for more.")]
Reference = Annotated[
    str | None,
    typer.Option(help="The signing secret, as env:org_<ORG>_NAME; without it, one is generated and kept."),
]
Name = Annotated[str | None, typer.Option(help="For people; the URL's host by default.")]
EndpointId = Annotated[str, typer.Argument(metavar="ID", help="The endpoint's id.")]
Event = Annotated[str, typer.Option("--event", help="The event type, such as order.created.")]
Data = Annotated[str, typer.Option(help="The body: JSON, a file's name, or - for standard input.")]
MessageId = Annotated[str | None, typer.Option(metavar="ID", help="For publishers that retry: never sent twice.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="webhooks")


@endpoints.command("add")
def add_endpoint(
    context: typer.Context,
    url: Url,
    *,
    event: Events = None,
    secret_reference: Reference = None,
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Add an endpoint; a generated signing secret is shown this once."""
    from headrace.workers.console.actions import webhooks  # noqa: PLC0415 - start-up stays fast

    wish = webhooks.EndpointWish(url, tuple(event or ()), secret_reference, name)
    added = ask(context, lambda session: webhooks.add_endpoint(session, wish))
    answer(added_document(added), added_fields(added), as_json=as_json)


@endpoints.command("list")
def list_endpoints(context: typer.Context, *, limit: Limit = 100, after: After = None, as_json: Json = False) -> None:
    """List endpoints, oldest first."""
    from headrace.workers.console.actions import webhooks  # noqa: PLC0415 - start-up stays fast

    begin = read_optional_id(after, "--after")
    found, next_id = ask(context, lambda session: webhooks.get_endpoints(session, limit, begin))
    more = () if next_id is None else (Line(f"more: --after {next_id}"),)
    answer(endpoints_document(found, next_id), endpoints_rows(found), *more, as_json=as_json)


@endpoints.command("enable")
def enable_endpoint(context: typer.Context, endpoint_id: EndpointId, *, as_json: Json = False) -> None:
    """Let a disabled endpoint have messages again."""
    from headrace.workers.console.actions import webhooks  # noqa: PLC0415 - start-up stays fast

    wanted = read_id(endpoint_id, ID, "an endpoint's id")
    endpoint = ask(context, lambda session: webhooks.enable_endpoint(session, wanted))
    said = Line(f"{endpoint.name} {endpoint.id} is enabled")
    answer({"endpoint": endpoint_document(endpoint)}, said, as_json=as_json)


@group.command("publish")
def publish(
    context: typer.Context, *, event: Event, data: Data, message_id: MessageId = None, as_json: Json = False
) -> None:
    """Publish a message to every enabled endpoint that wants its event."""
    from headrace.workers.console.actions import webhooks  # noqa: PLC0415 - start-up stays fast

    body, chosen = read_json_text(data, "--data"), read_optional_id(message_id, "--message-id")
    published = ask(context, lambda session: webhooks.publish(session, event, body, chosen))
    answer(published_document(published), *published_blocks(published), as_json=as_json)
