"""What an invocation stands on: how it gets its settings and parts, and how it runs a command over them."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from headrace.workers.console.actions.session import Operation, Session
    from headrace.workers.console.container import ConsoleContainer
    from headrace.workers.console.settings import ConsoleSettings


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command gets what it works with; tests give their own.

    Attributes:
        settings: Reads the console's settings.
        build: Puts the console together.
        execute: Replaces this process by another program; takes its argv and environment.
    """

    settings: "Callable[[], ConsoleSettings]"
    build: "Callable[[ConsoleSettings], ConsoleContainer]"
    execute: Callable[[Sequence[str], Mapping[str, str]], None]


def process_entry() -> Entry:
    """Return the entry of a real process: settings from its environment, parts over the backends they name."""
    return Entry(settings=_load_settings, build=_build, execute=_execute)


def entry_of(context: typer.Context) -> Entry:
    """Return the entry of this invocation."""
    entry = context.find_root().obj
    return entry if isinstance(entry, Entry) else process_entry()


def ask[Answer](context: typer.Context, call: Callable[["Session"], Awaitable[Answer]]) -> Answer:
    """Sign in, call, and close again; return what the call returned. Ctrl-C cancels the call first.

    Raises:
        ConfigurationInvalid: The settings cannot work.
        PlatformException: Signing in or the call was refused.
    """
    entry = entry_of(context)
    return asyncio.run(_signed_in(entry, call))


def operate[Answer](context: typer.Context, call: Callable[["Operation"], Awaitable[Answer]]) -> Answer:
    """Call without signing in, for what is the platform's, and close again; return what the call returned.

    Raises:
        ConfigurationInvalid: The settings cannot work.
        PlatformException: The call was refused.
    """
    return asyncio.run(_operating(entry_of(context), call))


def mute_logs(*, debug: bool) -> None:
    """Keep log lines off the terminal, where refusals are told in a sentence; with debug, show all of them."""
    if debug:
        logging.basicConfig(level=logging.DEBUG)
    else:
        logging.getLogger().addHandler(logging.NullHandler())


async def _signed_in[Answer](entry: Entry, call: Callable[["Session"], Awaitable[Answer]]) -> Answer:
    from headrace.workers.console.actions.session import signed_in  # noqa: PLC0415 - start-up stays fast

    async with signed_in(entry.build(entry.settings())) as session:
        return await call(session)


async def _operating[Answer](entry: Entry, call: Callable[["Operation"], Awaitable[Answer]]) -> Answer:
    from headrace.workers.console.actions.session import operating  # noqa: PLC0415 - start-up stays fast

    async with operating(entry.build(entry.settings())) as operation:
        return await call(operation)


def _load_settings() -> "ConsoleSettings":
    from headrace.infra.exceptions import ConfigurationInvalid  # noqa: PLC0415 - start-up stays fast
    from headrace.infra.settings import load_settings  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.settings import LOCAL_ENV_FILE, ConsoleSettings  # noqa: PLC0415 - likewise

    try:
        return load_settings(ConsoleSettings)
    except ConfigurationInvalid as error:
        if LOCAL_ENV_FILE.exists() or any(
            os.environ.get(name) for name in ConsoleSettings.variables_of("database_url")
        ):
            raise
        raise ConfigurationInvalid(
            f"no database is set: run `make run`, which starts a local stack and writes {LOCAL_ENV_FILE},"
            " or set HEADRACE_DATABASE_URL and the passwords of the logins"
        ) from error


def _build(settings: "ConsoleSettings") -> "ConsoleContainer":
    from headrace.workers.console.container import build  # noqa: PLC0415 - start-up stays fast

    return build(settings)


def _execute(argv: Sequence[str], environment: Mapping[str, str]) -> None:
    os.execve(argv[0], list(argv), dict(environment))  # noqa: S606 - a worker's own program, no shell
