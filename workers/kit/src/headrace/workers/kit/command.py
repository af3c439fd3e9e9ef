"""A worker's command line: `serve` runs the process, `healthcheck` probes it."""

import argparse
import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.infra.background.leaving import leave_when_held
from headrace.infra.background.runtime import BackgroundRunner, BackgroundRuntime, ExitCode
from headrace.infra.boot import BootedProcess, boot
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings import load_settings
from headrace.workers.kit.healthcheck import probe
from headrace.workers.kit.settings import WorkerSettings

if TYPE_CHECKING:
    from headrace.workers.kit.loop import HasWorkLoop  # the probe shares this module and must not load the loop


@dataclass(frozen=True, slots=True)
class WorkerCommand[SettingsT: WorkerSettings, ContextT: "HasWorkLoop"]:
    """What a worker's entrypoint runs.

    Attributes:
        name: The console script.
        settings: The worker's settings class.
        build_runtime: Puts the worker together; raises ConfigurationInvalid where its settings cannot work.
    """

    name: str
    settings: type[SettingsT]
    build_runtime: Callable[[SettingsT, BootedProcess], BackgroundRuntime[ContextT]]


def worker_main[SettingsT: WorkerSettings, ContextT: "HasWorkLoop"](
    command: WorkerCommand[SettingsT, ContextT], argv: Sequence[str] | None = None
) -> int:
    """Run the subcommand that the arguments name; return the process's exit code.

    Returns:
        `serve`: see `ExitCode`. `healthcheck`: 0 when well, 1 when not, with the reasons on standard error.
    """
    arguments = _parser(command.name).parse_args(argv)
    try:
        settings = load_settings(command.settings)
        if arguments.subcommand == "healthcheck":
            return probe(settings, readiness=arguments.readiness)
        return _serve(command, settings)
    except ConfigurationInvalid as error:
        sys.stderr.write(f"{command.name}: {error}\n")
        return 1 if arguments.subcommand == "healthcheck" else ExitCode.START_FAILED


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description="A Headrace worker; HEADRACE_ variables set it up.")
    subcommands = parser.add_subparsers(dest="subcommand", required=True)
    subcommands.add_parser("serve", help="run the worker until SIGTERM or SIGINT; a second one ends it at once")
    probe = subcommands.add_parser("healthcheck", help="exit 0 when the worker is well, else 1")
    probe.add_argument("--readiness", action="store_true", help="ask whether it is ready instead of alive")
    return parser


def _serve[SettingsT: WorkerSettings, ContextT: "HasWorkLoop"](
    command: WorkerCommand[SettingsT, ContextT], settings: SettingsT
) -> int:
    others = frozenset(threading.enumerate())
    with boot(settings) as booted:
        runtime = command.build_runtime(settings, booted)
        code = BackgroundRunner(runtime, loop_factory=_loop_factory()).run()
    leave_when_held(code, others)
    return code


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's factory where it is installed: it does a fifth more items a second."""
    try:
        import uvloop  # noqa: PLC0415 - missing on some platforms
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
