"""The entrypoint of the plain worker: `serve` runs it, `healthcheck` probes it."""

import sys
from typing import TYPE_CHECKING

from headrace.infra.background.runtime import BackgroundRuntime
from headrace.infra.boot import BootedProcess
from headrace.workers.kit.command import WorkerCommand, worker_main
from headrace.workers.plain.settings import PlainSettings

if TYPE_CHECKING:
    from headrace.workers.plain.process import PlainContext


def build_runtime(settings: PlainSettings, booted: BootedProcess) -> BackgroundRuntime["PlainContext"]:
    """Return the runtime of a worker with these settings."""
    # The probe is this program too, and needs neither the loop nor a driver.
    from headrace.workers.plain import container, process  # noqa: PLC0415 - only who serves pays for them

    built = container.WorkerContainer.build(settings, booted)
    return process.PlainProcess(settings, built).build_runtime()


COMMAND = WorkerCommand("headrace-plain", PlainSettings, build_runtime)


def main() -> int:
    """Run the subcommand that the process's arguments name; return its exit code."""
    return worker_main(COMMAND, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
