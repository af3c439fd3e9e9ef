"""The worker as a container: started, asked, and stopped."""

import http.client
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from headrace.tools.dev.ports import LOOPBACK
from headrace.tools.image_smoke.engine import Podman
from headrace.tools.image_smoke.image import Image
from headrace.tools.workers import WorkerDeclaration

NAME: Final = "smoke"
HTTP_SECONDS: Final = 5
NUM_LOG_LINES: Final = "30"
EXPECTED_STATUS: Final[Mapping[str, str]] = {
    "Uid": "65532",
    "CapEff": "0" * 16,
    "CapBnd": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
}
"""Source: proc(5), /proc/pid/status; Seccomp 2 is a filter."""


class Container:
    """One container of the worker.

    Args:
        podman: Where.
        image: Of what.
        worker: Which one it is.
    """

    def __init__(self, podman: Podman, image: Image, worker: WorkerDeclaration) -> None:
        self._podman = podman
        self._image = image
        self._worker = worker
        self._pid = 0

    def start(self, environment: Mapping[str, str]) -> None:
        """Start it with its own entrypoint and command; return at once."""
        self._podman.start(self._image.id, environment=environment, name=NAME)
        self._pid = self._podman.inspect(NAME)["State"]["Pid"]

    @property
    def kind(self) -> str:
        """What the worker handles."""
        return self._worker.kind

    def is_running(self) -> bool:
        """Tell whether its process runs."""
        return self._pid != 0 and Path(f"/proc/{self._pid}").exists()

    def answers(self, path: str) -> bool:
        """Tell whether its port answers a path with 200."""
        connection = http.client.HTTPConnection(LOOPBACK, self._worker.metrics_port, timeout=HTTP_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def confinement_problem(self) -> str | None:
        """Return in what its process is freer than it should be."""
        lines = Path(f"/proc/{self._pid}/status").read_text(encoding="utf-8").splitlines()
        status = dict(line.split(":", 1) for line in lines)
        found = {name: status[name].split()[0] for name in EXPECTED_STATUS}
        return None if found == EXPECTED_STATUS else f"expected {dict(EXPECTED_STATUS)}, found {found}"

    def healthcheck_problem(self) -> str | None:
        """Return what its own probe says: as the image has it, or the program's subcommand where it has none."""
        if self._image.has_healthcheck:
            ended = self._podman.ask("healthcheck", "run", NAME)
        else:
            ended = self._podman.ask("exec", NAME, self._image.entrypoint[0], "healthcheck")
        return None if ended.exit_code == 0 else f"{ended.exit_code}: {ended.output}{ended.complaint}"

    def stop(self, window: timedelta) -> int:
        """Ask it to end as a platform does; return its exit code, 137 when it had to be killed."""
        self._podman.tell("stop", "--time", str(int(window.total_seconds())), NAME)
        code: int = self._podman.inspect(NAME)["State"]["ExitCode"]
        return code

    def log(self) -> str:
        """Return the last lines that it wrote."""
        ended = self._podman.ask("logs", "--tail", NUM_LOG_LINES, NAME)
        return (ended.output + ended.complaint).strip()
