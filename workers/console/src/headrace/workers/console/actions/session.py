"""Who asks, and with what: the signed-in session that commands work in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.root import Managers
from headrace.workers.console.container import ConsoleContainer
from headrace.workers.console.exceptions import ApiKeyMissing
from headrace.workers.console.settings import LOCAL_ENV_FILE, ConsoleSettings


@dataclass(frozen=True, slots=True)
class Session:
    """An open console and the context of who signed in."""

    container: ConsoleContainer
    ctx: OpContext

    @property
    def managers(self) -> Managers:
        """The managers."""
        return self.container.managers


@dataclass(frozen=True, slots=True)
class Operation:
    """An open console on which the platform is operated: nobody is signed in; the database's logins are the right."""

    managers: Managers
    rctx: RequestContext


def new_request(settings: ConsoleSettings) -> RequestContext:
    """Return the request stage of one command."""
    return RequestContext(app=AppContext(type=AppType.CLI, version=f"{settings.service}@{settings.release}"))


@asynccontextmanager
async def operating(container: ConsoleContainer) -> AsyncIterator[Operation]:
    """Open the console without signing in; close it on leaving.

    Raises:
        SchemaMismatch, Unavailable: See `ConsoleContainer.opened`.
    """
    async with container.opened():
        yield Operation(container.managers, new_request(container.settings))


@asynccontextmanager
async def signed_in(container: ConsoleContainer) -> AsyncIterator[Session]:
    """Open the console and sign in by the API key of its settings; close it on leaving.

    Raises:
        ApiKeyMissing: No API key is set; nothing was opened.
        NotAuthenticated: The key signs nobody in.
        SchemaMismatch, Unavailable: See `ConsoleContainer.opened`.
    """
    token = container.settings.api_key
    if token is None:
        raise ApiKeyMissing(
            "no API key is set: put its token into HEADRACE_API_KEY, or run `headrace seed --store"
            f" {LOCAL_ENV_FILE}` to make a local one"
        )
    async with container.opened():
        yield Session(container, await container.managers.tenancy.authenticate(new_request(container.settings), token))
