"""Starting: from a process's start until it is ready, and what its imports take."""

import asyncio
import sys
import time
from typing import Final

from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.programs import running, wait_ready, worker_program
from headrace.tools.bench.queue import Queue

WORKER_MODULE: Final = "headrace.workers.maintenance.main"
CAPACITY: Final = 10
IMPORT_SECONDS: Final = 60
NUM_MODULES: Final = 20
"""Modules whose import is told, the slowest ones."""

NUM_PARTS: Final = 3
"""Of a line of `-X importtime`."""


async def start_up(ground: Ground, queue: Queue, num_runs: int) -> tuple[Measure, ...]:
    """Start a worker and import its modules so many times, in turns.

    Raises:
        BenchError: It does not start, or does not import.
    """
    ready: list[float] = []
    imported: list[float] = []
    bare: list[float] = []
    for _ in range(num_runs):
        program = worker_program(queue.environment, ground.folder, capacity=CAPACITY, mark_every=1)
        async with running([program], ground.folder) as workers:
            ready += await wait_ready(workers)
        bare.append(await _seconds_of("pass"))
        imported.append(await _seconds_of(f"import {WORKER_MODULE}, headrace.workers.maintenance.process"))
    return (
        Measure("start of a worker until it is ready", "s", tuple(ready)),
        Measure("start of Python, importing the worker", "s", tuple(imported)),
        Measure("start of Python alone", "s", tuple(bare)),
        *(
            Measure(f"import of {name}", "ms", (took,), is_detail=True)
            for name, took in await import_times(NUM_MODULES)
        ),
    )


async def _seconds_of(statement: str) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", statement)
    if await asyncio.wait_for(process.wait(), IMPORT_SECONDS):
        raise BenchError(f"Python failed at {statement!r}.")
    return time.perf_counter() - began


async def import_times(num_modules: int) -> tuple[tuple[str, float], ...]:
    """Return the modules that take longest to import by themselves, in milliseconds, the longest first.

    Source: `python -X importtime`, whose lines are `import time: self [us] | cumulative | name`.
    """
    argv = (sys.executable, "-X", "importtime", "-c", f"import {WORKER_MODULE}, headrace.workers.maintenance.process")
    process = await asyncio.create_subprocess_exec(*argv, stderr=asyncio.subprocess.PIPE)
    _, told = await asyncio.wait_for(process.communicate(), IMPORT_SECONDS)
    lines = [line.removeprefix("import time:").split("|") for line in told.decode().splitlines()[1:]]
    each = [
        (parts[2].strip(), int(parts[0]) / 1000)
        for parts in lines
        if len(parts) == NUM_PARTS and parts[0].strip().isdecimal()
    ]
    return tuple(sorted(each, key=lambda pair: -pair[1])[:num_modules])
