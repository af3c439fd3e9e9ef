"""The entrypoint of the x2 worker: `serve` runs it, `healthcheck` probes it."""

import sys
from typing import TYPE_CHECKING

from acme_works.infra.background.runtime import BackgroundRuntime
from acme_works.infra.boot import BootedProcess
from acme_works.workers.kit.command import WorkerCommand, worker_main
from acme_works.workers.x2.settings import X2Settings

if TYPE_CHECKING:
    from acme_works.workers.x2.process import X2Context


def build_runtime(settings: X2Settings, booted: BootedProcess) -> BackgroundRuntime["X2Context"]:
    """Return the runtime of a worker with these settings."""
    # The probe is this program too, and needs neither the loop nor a driver.
    from acme_works.workers.x2 import container, process  # noqa: PLC0415 - only who serves pays for them

    built = container.WorkerContainer.build(settings, booted)
    return process.X2Process(settings, built).build_runtime()


COMMAND = WorkerCommand("acme-works-x2", X2Settings, build_runtime)


def main() -> int:
    """Run the subcommand that the process's arguments name; return its exit code."""
    return worker_main(COMMAND, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
