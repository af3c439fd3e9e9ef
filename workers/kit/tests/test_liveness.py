import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, override
from uuid import UUID

import pytest

from headrace.infra.background.timing import ManualClockImpl
from headrace.infra.cache import CacheScope
from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import EMPTY_UUID
from headrace.om.root import Infra
from workers.kit.tests.workbench import Bench, bench, passes, until

SCOPE = CacheScope.WORKER_LIVENESS


class ForgetfulCache(CacheMemoryImpl):
    """Takes every write and, while it forgets, serves none back."""

    forgets = False

    @override
    async def get(self, scope: CacheScope, org_id: UUID, key: str) -> str | None:
        return None if self.forgets else await super().get(scope, org_id, key)

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        self.forgets = True
        try:
            yield
        finally:
            self.forgets = False


def infra_over(cache: CacheMemoryImpl) -> Infra:
    return Infra.over(cache=cache, topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl())


async def shown(one: Bench) -> str | None:
    return await one.parts.infra.cache.get(SCOPE, EMPTY_UUID, one.loop.worker)


async def test_the_worker_is_seen_with_what_it_does_when_it_beats() -> None:
    async with bench(capacity=4) as one, one.running("liveness"):
        await until(lambda: shown(one), "a beat")
        value = json.loads(await shown(one) or "")
        assert await one.parts.infra.cache.keys(SCOPE, EMPTY_UUID, 10) == (one.loop.worker,)
    assert (value["worker"], value["lane"], value["kinds"]) == (one.loop.worker, "default", ["NOOP"])
    assert (value["capacity"], value["running"]) == (4, 0)


async def test_the_worker_is_offline_when_it_has_stopped() -> None:
    async with bench() as one:
        async with one.running("liveness"):
            await until(lambda: shown(one), "a beat")
        assert await shown(one) is None


async def test_claiming_pauses_and_health_fails_when_beats_are_not_read_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    clock, cache = ManualClockImpl(), ForgetfulCache()
    beats: dict[str, Any] = {"heartbeat_interval": "10s", "heartbeat_failure_limit": 2}
    async with bench(clock=clock, infra=infra_over(cache), **beats) as one, one.running("liveness"):
        state = one.loop.core.state
        with cache.forgetting():
            await until(lambda: state.num_failed_beats == 1, "a failed beat")
            assert not state.problems()
            await passes(clock, timedelta(seconds=10))
            assert state.is_paused
            assert "2 liveness beats in a row failed; claiming is paused" in state.problems()[0]
        clock.advance(timedelta(seconds=10))
        await until(lambda: not state.problems(), "a beat that gets through")
    assert "2 liveness beats" in caplog.text


async def test_a_beat_fails_when_the_cache_is_away() -> None:
    async with bench(is_started=False, heartbeat_failure_limit=1) as one, one.running("liveness"):
        await until(lambda: one.loop.core.state.has_lost_liveness, "a failed beat")
