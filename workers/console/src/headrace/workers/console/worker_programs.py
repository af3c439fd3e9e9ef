"""The worker programs that are installed beside the console, found without knowing any of them.

A worker declares itself in its pyproject.toml: an entry point of the group `headrace.workers`, named as the worker and
leading to the same function as its console script.
"""

import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import Final

WORKERS_GROUP: Final = "headrace.workers"
SCRIPTS_GROUP: Final = "console_scripts"


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """A worker and its console script.

    Attributes:
        name: The worker's.
        program: The script's file.
    """

    name: str
    program: str

    def argv(self) -> tuple[str, ...]:
        """Return the command line that runs the worker."""
        return (self.program, "serve")


def installed_workers() -> Mapping[str, WorkerProgram]:
    """Return the workers whose console scripts are installed beside this interpreter, by name, sorted."""
    found: dict[str, WorkerProgram] = {}
    for distribution in distributions():
        points = distribution.entry_points
        scripts = {point.value: point.name for point in points.select(group=SCRIPTS_GROUP)}
        for worker in points.select(group=WORKERS_GROUP):
            if (program := _program(worker, scripts)) is not None:
                found[worker.name] = program
    return dict(sorted(found.items()))


def _program(worker: EntryPoint, scripts: Mapping[str, str]) -> WorkerProgram | None:
    folders = (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent)
    candidates = (folder / scripts[worker.value] for folder in folders if worker.value in scripts)
    return next((WorkerProgram(worker.name, str(each)) for each in candidates if each.is_file()), None)
