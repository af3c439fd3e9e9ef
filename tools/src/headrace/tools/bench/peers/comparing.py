"""Ours and a peer in turns, workload by workload, so that each ratio is of one run."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from headrace.tools.bench.bars import peer_bars
from headrace.tools.bench.drain import DrainPlan, drain
from headrace.tools.bench.enqueue import bulk_rate, single_rate
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground, open_ground, told_settings
from headrace.tools.bench.machine import machine, versions
from headrace.tools.bench.measures import Measure, gathered, percentile
from headrace.tools.bench.peers.installing import installed
from headrace.tools.bench.peers.systems import PEERS, Peer, PeerKind
from headrace.tools.bench.peers.workloads import PeerQueue, open_peer
from headrace.tools.bench.pick_up import pick_up
from headrace.tools.bench.queue import Queue, open_queue
from headrace.tools.bench.report import Report

CAPACITY: Final = 100
"""Items that our worker runs at once while it drains."""

OUR_SETTINGS: Final = {
    "drain": f"capacity {CAPACITY}, ten orgs, else the defaults: row security, leases, metrics and sweep are on",
    "pick-up": "every setting its default, wake-ups by NOTIFY",
    "bulk": "enqueue_many of 5,000",
    "loop": "uvloop",
}


@dataclass(frozen=True, slots=True)
class PeerSizes:
    """How much of everything.

    Attributes:
        num_runs: Rounds of ours and theirs.
        num_drained: Items of one of our drains; a peer says its own number.
        num_single: Items of a run that enqueues one by one.
        num_bulk: Items of a run that enqueues in bulk.
        num_picked_up: Items of a run of pick-ups.
        share: Of the items that a peer says it drains.
    """

    num_runs: int = 5
    num_drained: int = 12_000
    num_single: int = 300
    num_bulk: int = 20_000
    num_picked_up: int = 60
    share: float = 1.0


FULL: Final = PeerSizes()
QUICK: Final = PeerSizes(num_runs=2, num_drained=6_000, num_single=100, num_bulk=5_000, num_picked_up=20, share=0.5)


async def compare(root: Path, sizes: PeerSizes, names: Sequence[str], *, told: Callable[[str], None]) -> Report:
    """Install each peer and run every workload for ours and for it, in turns.

    A peer that cannot be had is told of in the report's remarks; the others go on.

    Args:
        root: The working tree.
        sizes: How much of everything.
        names: Which peers.
        told: Is told what begins.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or ours does not work.
    """
    circumstances: dict[str, Any] = {"machine": machine(), "versions": versions(root), "sizes": sizes}
    with tempfile.TemporaryDirectory(prefix="headrace-peers-", ignore_cleanup_errors=True) as folder:
        async with open_ground(root) as ground, open_queue(ground, num_orgs=10) as queue:
            circumstances["postgres"] = await told_settings(queue.admin)
            circumstances["systems"] = {"headrace": {"settings": OUR_SETTINGS}}
            report = Report("headrace and its peers, in turns", circumstances)
            for kind in (each for each in PEERS if each.name in names):
                try:
                    await _beside(report, ground, queue, kind, Path(folder), sizes, told)
                except BenchError as error:
                    report.remarks.append(f"{kind.name} is left out: {error}.")
    return report


async def _beside(
    report: Report,
    ground: Ground,
    queue: Queue,
    kind: PeerKind,
    folder: Path,
    sizes: PeerSizes,
    told: Callable[[str], None],
) -> None:
    told(f"installing {kind.name}")
    peer = await installed(replace(kind, num_drained=int(kind.num_drained * sizes.share)), folder)
    report.circumstances["systems"][kind.name] = {"settings": kind.settings, "versions": peer.versions}
    ours, theirs = await _in_turns(ground, queue, peer, sizes, told)
    report.measures += [replace(each, name=f"{each.name}, beside {kind.name}") for each in ours]
    report.measures += theirs
    report.bars += peer_bars(ours, theirs)


async def _in_turns(
    ground: Ground, queue: Queue, peer: Peer, sizes: PeerSizes, told: Callable[[str], None]
) -> tuple[tuple[Measure, ...], tuple[Measure, ...]]:
    ours: list[tuple[Measure, ...]] = []
    theirs: list[tuple[Measure, ...]] = []
    async with open_peer(ground, peer) as other:
        for number in range(sizes.num_runs):
            told(f"headrace and {peer.kind.name}, run {number + 1} of {sizes.num_runs}")
            await _round(ground, queue, other, sizes, ours, theirs)
    return gathered(ours), gathered(theirs)


async def _round(
    ground: Ground,
    queue: Queue,
    other: PeerQueue,
    sizes: PeerSizes,
    ours: list[tuple[Measure, ...]],
    theirs: list[tuple[Measure, ...]],
) -> None:
    await queue.empty()
    ours.append((Measure("enqueue one by one", "items/s", (await single_rate(queue, sizes.num_single),)),))
    theirs.append((await other.single_rate(sizes.num_single),))
    ours.append((Measure("bulk enqueue", "items/s", (await bulk_rate(queue, sizes.num_bulk),)),))
    theirs.append((await other.bulk_rate(sizes.num_bulk),))
    await queue.empty()
    ours.append((await drain(ground, queue, DrainPlan(sizes.num_drained, capacity=CAPACITY))).measures("drain"))
    theirs.append((await other.drain(ground)).measures("drain", other.peer.kind.name))
    await queue.empty()
    ours.append(_cuts(await pick_up(ground, queue, sizes.num_picked_up)))
    theirs.append(_cuts(await other.pick_up(sizes.num_picked_up)))


def _cuts(measure: Measure) -> tuple[Measure, ...]:
    """Return a run's waits with its p50 and p99, which are compared run by run."""
    cuts = (replace(measure, name=f"{measure.name}: p{p}", samples=(percentile(measure.samples, p),)) for p in (50, 99))
    return (replace(measure, is_detail=True), *cuts)
