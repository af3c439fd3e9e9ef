"""What every peer's program can do, and how it is told to; the programs in `.mjs` speak the same.

A program runs in the peer's own environment, so that this module imports nothing but the standard library. It is
called as `PROGRAM COMMAND URL [NUMBER]`: `prepare` makes the schema; `bulk` and `single` enqueue so many items in its
best way and one by one, and write `<items> <nanoseconds that it took>`; `serve` enqueues one item for each line that it
reads and writes `<items so far> <instant of the commit>`; `work` handles items until SIGTERM and writes a mark after
every so many.
"""

import asyncio
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Final

BULK: Final = 5_000
"""Items of one bulk enqueue, as for ours."""


class Marks:
    """Counts the items that a handler entered and writes a mark after every so many."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._num_items = 0

    def note(self) -> None:
        """Count one item."""
        self._num_items += 1
        if self._num_items % self._every == 0:
            tell(self._num_items, time.time_ns())


class PeerProgram(ABC):
    """One queue. Methods but `prepare` are called between `open` and `close`.

    Args:
        url: The database.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    @abstractmethod
    async def prepare(self) -> None:
        """Make the schema in an empty database."""
        ...

    @abstractmethod
    async def open(self) -> None:
        """Connect, to enqueue."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Close what `open` opened."""
        ...

    @abstractmethod
    async def enqueue_bulk(self, num_items: int) -> None:
        """Enqueue so many items in one call."""
        ...

    @abstractmethod
    async def enqueue(self) -> None:
        """Enqueue one item and return when it is committed."""
        ...

    @abstractmethod
    async def work(self, marks: Marks, stop: asyncio.Event) -> None:
        """Handle items until `stop` is set, noting each."""
        ...


def tell(count: int, nanoseconds: int) -> None:
    """Write one line of the protocol."""
    sys.stdout.write(f"{count} {nanoseconds}\n")
    sys.stdout.flush()


def main(program: Callable[[str], PeerProgram]) -> None:
    """Do what the command line says, on uvloop."""
    import uvloop  # noqa: PLC0415 - of the peer's environment

    command, url, *rest = sys.argv[1:]
    number = int(rest[0]) if rest else 0
    uvloop.run(_COMMANDS[command](program(url), number))


async def _prepare(program: PeerProgram, _number: int) -> None:
    await program.prepare()


async def _bulk(program: PeerProgram, number: int) -> None:
    await program.open()
    began = time.perf_counter_ns()
    for first in range(0, number, BULK):
        await program.enqueue_bulk(min(BULK, number - first))
    tell(number, time.perf_counter_ns() - began)
    await program.close()


async def _single(program: PeerProgram, number: int) -> None:
    await program.open()
    await program.enqueue()
    began = time.perf_counter_ns()
    for _ in range(number):
        await program.enqueue()
    tell(number, time.perf_counter_ns() - began)
    await program.close()


async def _serve(program: PeerProgram, _number: int) -> None:
    await program.open()
    num_items = 0
    while await asyncio.to_thread(sys.stdin.readline):
        await program.enqueue()
        num_items += 1
        tell(num_items, time.time_ns())
    await program.close()


async def _work(program: PeerProgram, number: int) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await program.work(Marks(number), stop)


_COMMANDS: Final[dict[str, Callable[[PeerProgram, int], Coroutine[Any, Any, None]]]] = {
    "prepare": _prepare,
    "bulk": _bulk,
    "single": _single,
    "serve": _serve,
    "work": _work,
}
