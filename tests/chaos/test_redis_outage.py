"""Redis stopped and started again while items come in; cache and topics are on it."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path

import pytest

from headrace.tools.dev import LoginUrls, RedisServer
from tests.chaos.load import under_load
from tests.chaos.site import Site, open_site
from tests.fixtures.servers import StartRedis
from tests.fixtures.workers import StartWorker, WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(150)]

BEATS = {"heartbeat_interval": "300ms", "heartbeat_failure_limit": 2, "heartbeat_ttl": "3s"}
NUM_DURING_OUTAGE = 20


@pytest.fixture
def redis(start_redis: StartRedis) -> RedisServer:
    return start_redis()


@pytest.fixture
async def redis_site(
    redis: RedisServer, module_login_urls: LoginUrls, module_admin_dsn: str, tmp_path: Path, start_worker: StartWorker
) -> AsyncIterator[Site]:
    backends = {"cache_backend": "redis", "topics_backend": "redis", "redis_url": redis.url}
    async with open_site(module_login_urls, module_admin_dsn, tmp_path, start_worker, **backends) as opened:
        yield opened


async def test_work_goes_on_and_nothing_is_lost_when_redis_is_away_and_liveness_loss_is_continue(
    redis_site: Site, redis: RedisServer
) -> None:
    workers = [await redis_site.worker(liveness_loss="continue", **BEATS) for _ in range(2)]
    async with under_load(redis_site.queue, "sleep 0.02") as load:
        await redis_site.queue.until_done(1)
        await asyncio.to_thread(redis.stop)
        for worker in workers:
            await _until_healthz(worker, HTTPStatus.SERVICE_UNAVAILABLE)
        await redis_site.queue.until_done(await redis_site.queue.num_done() + NUM_DURING_OUTAGE)
        await asyncio.to_thread(redis.start)
        for worker in workers:
            await _until_healthz(worker, HTTPStatus.OK)
    await redis_site.queue.until_done(load.num_enqueued)
    await redis_site.assert_each_done_once(load.num_enqueued)
    assert [worker.exit_code for worker in workers] == [None, None]


async def test_claiming_pauses_and_nothing_is_lost_when_redis_is_away_and_liveness_loss_is_pause(
    redis_site: Site, redis: RedisServer
) -> None:
    worker = await redis_site.worker(liveness_loss="pause", **BEATS)
    async with under_load(redis_site.queue, "sleep 0.02") as load:
        await redis_site.queue.until_done(1)
        await asyncio.to_thread(redis.stop)
        await _until_healthz(worker, HTTPStatus.SERVICE_UNAVAILABLE)
        assert "claiming is paused" in (await worker.get("/healthz"))[1]
        await _until_nothing_runs(redis_site, worker)
        num_done, num_enqueued = await redis_site.queue.num_done(), load.num_enqueued
        await until(lambda: load.num_enqueued >= num_enqueued + NUM_DURING_OUTAGE, "more items came in")
        assert await redis_site.queue.num_done() == num_done
        await asyncio.to_thread(redis.start)
        await _until_healthz(worker, HTTPStatus.OK)
    await redis_site.queue.until_done(load.num_enqueued)
    await redis_site.assert_each_done_once(load.num_enqueued)
    assert worker.exit_code is None


async def _until_healthz(worker: WorkerProcess, status: HTTPStatus) -> None:
    async def answers() -> bool:
        return await worker.status_of("/healthz") == status

    await until(answers, f"/healthz answers {status}", tell=worker)


async def _until_nothing_runs(site: Site, worker: WorkerProcess) -> None:
    async def is_idle() -> bool:
        return "claimed" not in await site.queue.counts()

    await until(is_idle, "what was claimed before is settled", tell=worker)
