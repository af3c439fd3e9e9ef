"""The state of an org's work at a glance."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from headrace.infra.cache import CacheInterface, CacheScope
from headrace.om.base import EMPTY_UUID
from headrace.om.outbox.types.relay_report import OutboxGauges
from headrace.om.tenancy.types.org import Org
from headrace.om.work.types.queries import WorkStatusReport
from headrace.om.work.types.work_item import WorkStatus
from headrace.workers.console.actions.session import Session

PROBE_TTL: Final = timedelta(seconds=1)

MAX_WORKERS: Final = 1000
"""How many workers are listed at most."""


@dataclass(frozen=True, slots=True)
class Status:
    """What `headrace status` tells.

    Attributes:
        org: Whose work.
        work: Its queue.
        outbox: How far the relay is behind, across orgs.
        workers: What each live worker said of itself at its last beat, by name.
        sees_workers: Whether the cache is shared and answers, so that the workers can be seen at all.
    """

    org: Org
    work: WorkStatusReport
    outbox: OutboxGauges
    workers: Mapping[str, Mapping[str, Any]]
    sees_workers: bool

    @property
    def num_dead_letters(self) -> int:
        """How many items have failed for good."""
        return sum(count.num_items for count in self.work.counts if count.status is WorkStatus.FAILED)


async def read_status(session: Session) -> Status:
    """Return the state of the session's org, its parts read one after the other."""
    managers, ctx, cache = session.managers, session.ctx, session.container.infra.cache
    return Status(
        org=await managers.tenancy.get_org(ctx),
        work=await managers.work.get_status(ctx),
        outbox=await managers.outbox.read_gauges(ctx),
        workers=await _live_workers(cache),
        sees_workers=session.container.settings.cache_backend != "memory" and await _answers(cache),
    )


async def _answers(cache: CacheInterface) -> bool:
    """Return whether the cache takes a value: one that is away answers reads as if nothing were there."""
    return await cache.put(CacheScope.IDEMPOTENCY, EMPTY_UUID, "console-status", "asked", ttl=PROBE_TTL)


async def _live_workers(cache: CacheInterface) -> dict[str, Mapping[str, Any]]:
    names = await cache.keys(CacheScope.WORKER_LIVENESS, EMPTY_UUID, MAX_WORKERS)
    beats = {name: await cache.get(CacheScope.WORKER_LIVENESS, EMPTY_UUID, name) for name in names}
    return {name: _said(beat) for name, beat in beats.items() if beat is not None}


def _said(beat: str) -> Mapping[str, Any]:
    """Return what a beat says; another release's may say it otherwise."""
    try:
        said = json.loads(beat)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
