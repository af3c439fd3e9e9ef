"""What a worker's project declares of it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from headrace.tools.image_smoke.exceptions import SmokeError


@dataclass(frozen=True, slots=True)
class Declaration:
    """The worker that an image is said to hold.

    Attributes:
        name: Its folder below `workers/`.
        program: Its console script.
        kind: What it handles.
        lane: From where.
        metrics_port: Where its probes answer.
    """

    name: str
    program: str
    kind: str
    lane: str
    metrics_port: int

    @classmethod
    def read(cls, root: Path, name: str) -> Self:
        """Return what the working tree declares.

        Raises:
            SmokeError: There is no such worker.
        """
        file = root / "workers" / name / "pyproject.toml"
        if not file.is_file():
            raise SmokeError(f"{file} is not there: --worker takes a folder's name below workers/")
        project = tomllib.loads(file.read_text(encoding="utf-8"))
        worker = project.get("tool", {}).get("headrace", {}).get("worker")
        if worker is None:
            raise SmokeError(f"{file} has no table [tool.headrace.worker]: it is no worker")
        (program,) = project["project"]["scripts"]
        return cls(name, program, worker["kind"], worker["lane"], worker["metrics_port"])
