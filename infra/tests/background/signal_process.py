"""A whole process over the runtime, for tests that send it real signals.

Arguments: a folder for its files, how it behaves, its shutdown timeout in seconds, its event loop.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import uvloop

from headrace.infra.background.heartbeat import HeartbeatTask
from headrace.infra.background.runtime import BackgroundRunner, BackgroundRuntime, RuntimeOptions, WorkerTaskSpec
from headrace.infra.background.signals import FileHeartbeat, FileReadiness

folder, behaviour = Path(sys.argv[1]), sys.argv[2]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@asynccontextmanager
async def resources() -> AsyncIterator[None]:
    if behaviour == "hangs-in-start":
        say("starting")
        await asyncio.Event().wait()
    if behaviour == "fails-in-start":
        raise OSError("no resource")
    yield
    say("closed")


async def work(_context: None, stop: asyncio.Event) -> None:
    say("working")
    if behaviour == "fails":
        raise ValueError("broken")
    await stop.wait()
    say("stop seen")
    if behaviour == "ignores-stop":
        await asyncio.Event().wait()


def main() -> int:
    heartbeat = FileHeartbeat(folder / "heartbeat")
    beats = HeartbeatTask(heartbeat, timedelta(seconds=1))
    runtime = BackgroundRuntime(
        resources,
        [WorkerTaskSpec("heartbeat", beats.run, stop_phase=1), WorkerTaskSpec("work", work)],
        RuntimeOptions("signalled", shutdown_timeout=timedelta(seconds=float(sys.argv[3]))),
        readiness=[FileReadiness(folder / "ready")],
        heartbeat=heartbeat,
    )
    loop_factory = uvloop.new_event_loop if sys.argv[4] == "uvloop" else None
    return BackgroundRunner(runtime, loop_factory=loop_factory).run()


if __name__ == "__main__":
    sys.exit(main())
