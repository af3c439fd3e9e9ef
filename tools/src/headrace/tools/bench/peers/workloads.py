"""The workloads over an installed peer, each a run of its programs on the bench's own server."""

import asyncio
import contextlib
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from headrace.tools.bench.drain import DrainPlan, DrainRun, measured_drain
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground, administrator
from headrace.tools.bench.marks import Mark
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.peers.systems import Peer
from headrace.tools.bench.pick_up import Enqueue, waits
from headrace.tools.bench.programs import Program, running, wait_entered
from headrace.tools.bench.waiting import until

LOGIN: Final = "peer"
COMMAND_SECONDS: Final = 120
FINISH_SECONDS: Final = 120.0
TAIL_BYTES: Final = 800


@dataclass(frozen=True, slots=True)
class PeerQueue:
    """A peer with its schema in a database of its own.

    Attributes:
        peer: Which.
        url: Its login's URL of the database.
        admin: The administrator's connection, whose statements are not counted.
        folder: For logs.
    """

    peer: Peer
    url: str
    admin: asyncpg.Connection
    folder: Path

    async def bulk_rate(self, num_items: int) -> Measure:
        """Enqueue so many items in bulk; return the rate."""
        return Measure("bulk enqueue", "items/s", (await self._rate("bulk", num_items),), self.peer.kind.name)

    async def single_rate(self, num_items: int) -> Measure:
        """Enqueue so many items one by one; return the rate."""
        return Measure("enqueue one by one", "items/s", (await self._rate("single", num_items),), self.peer.kind.name)

    async def drain(self, ground: Ground) -> DrainRun:
        """Drain what is enqueued first."""
        await self.empty()
        plan = DrainPlan(self.peer.kind.num_drained)
        await self._rate("bulk", plan.num_items)
        await self.admin.execute("VACUUM ANALYZE")

        async def finish() -> int:
            await self._wait_finished()
            return plan.num_items

        return await measured_drain(ground, self.admin, (self._program("work", plan.mark_every),), plan, finish)

    async def pick_up(self, num_items: int) -> Measure:
        """Enqueue items one by one while a worker is at rest; return the waits."""
        await self.empty()
        async with running([self._program("work", 1)], self.folder) as (worker,), self._enqueuer() as enqueue:
            # The first item tells that the worker is there; programs have no other sign of it in common.
            await enqueue()
            await wait_entered([worker], 1, COMMAND_SECONDS)
            return await waits(worker, enqueue, num_items, system=self.peer.kind.name)

    async def empty(self) -> None:
        """Remove every item, done or not."""
        table = self.peer.kind.unfinished.split(" FROM ")[1].split(" ")[0]
        await self.admin.execute(f"TRUNCATE {table} CASCADE")

    async def _wait_finished(self) -> None:
        async def is_done() -> bool:
            return int(await self.admin.fetchval(self.peer.kind.unfinished)) == 0

        if not await until(is_done, FINISH_SECONDS):
            raise BenchError(f"{self.peer.kind.name} left items after {FINISH_SECONDS:g} s.")

    async def _rate(self, command: str, num_items: int) -> float:
        told = await self.run(command, num_items)
        mark = Mark.read(told)
        return mark.num_items / (mark.at_ns / 1e9)

    async def run(self, command: str, number: int = 0) -> str:
        """Run a command of the peer's program to its end; return what it wrote.

        Raises:
            BenchError: It failed.
        """
        argv = (*self.peer.argv, command, self.url, str(number))
        process = await asyncio.create_subprocess_exec(
            *argv, env=os.environ | self.peer.environment, stdout=PIPE, stderr=PIPE
        )
        told, complaints = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        if process.returncode:
            raise BenchError(f"{self.peer.kind.name} failed at {command}: {complaints.decode()[-TAIL_BYTES:]}")
        return told.decode()

    def _program(self, command: str, number: int) -> Program:
        argv = (*self.peer.argv, command, self.url, str(number))
        return Program(self.peer.kind.name, argv, self.peer.environment)

    @asynccontextmanager
    async def _enqueuer(self) -> AsyncIterator[Enqueue]:
        """Start the peer's program that enqueues an item for each line; give what sends it one."""
        argv = (*self.peer.argv, "serve", self.url)
        process = await asyncio.create_subprocess_exec(
            *argv, env=os.environ | self.peer.environment, stdin=PIPE, stdout=PIPE
        )
        lines, told = process.stdin, process.stdout
        if lines is None or told is None:
            raise BenchError("The enqueueing program has no pipes.")

        async def enqueue() -> int:
            lines.write(b"\n")
            line = await asyncio.wait_for(told.readline(), COMMAND_SECONDS)
            return Mark.read(line.decode()).at_ns

        try:
            yield enqueue
        finally:
            lines.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), COMMAND_SECONDS)


@asynccontextmanager
async def open_peer(ground: Ground, peer: Peer) -> AsyncIterator[PeerQueue]:
    """Make a database that belongs to a login of the peer's own, with the peer's schema.

    Raises:
        BenchError: The peer cannot make its schema.
    """
    name = peer.kind.name.replace("-", "_")
    login, secret = f"{LOGIN}_{name}", token_hex(16)
    dsn = await ground.create_database(name)
    async with administrator(dsn) as admin:
        await admin.execute(f"CREATE ROLE {login} LOGIN PASSWORD '{secret}'")
        await admin.execute(f"ALTER DATABASE {name} OWNER TO {login}; GRANT ALL ON SCHEMA public TO {login}")
        parts = urlsplit(dsn)
        url = parts._replace(netloc=f"{login}:{secret}@{parts.netloc.rpartition('@')[2]}").geturl()
        queue = PeerQueue(peer, url, admin, ground.folder)
        await queue.run("prepare")
        yield queue
