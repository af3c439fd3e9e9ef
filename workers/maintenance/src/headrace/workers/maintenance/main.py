"""The entrypoint of the maintenance worker: `headrace-maintenance serve` and `headrace-maintenance healthcheck`."""

import sys

from headrace.infra.background.runtime import BackgroundRuntime
from headrace.infra.boot import BootedProcess
from headrace.workers.kit.command import WorkerCommand, worker_main
from headrace.workers.maintenance.container import WorkerContainer
from headrace.workers.maintenance.process import MaintenanceContext, MaintenanceProcess
from headrace.workers.maintenance.settings import MaintenanceSettings


def build_runtime(settings: MaintenanceSettings, booted: BootedProcess) -> BackgroundRuntime[MaintenanceContext]:
    """Return the runtime of a worker with these settings."""
    return MaintenanceProcess(settings, WorkerContainer.build(settings, booted)).build_runtime()


COMMAND = WorkerCommand("headrace-maintenance", MaintenanceSettings, build_runtime)


def main() -> int:
    """Run the subcommand that the process's arguments name; return its exit code."""
    return worker_main(COMMAND, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
