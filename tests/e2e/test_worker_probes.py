"""A worker's port and its healthcheck subcommand, asked from outside; the cache is on Redis."""

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path

import pytest

from headrace.tools.dev import LoginUrls, RedisServer
from tests.chaos.site import Site, open_site
from tests.fixtures.servers import StartRedis
from tests.fixtures.workers import StartWorker, WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

BEATS = {"heartbeat_interval": "300ms", "heartbeat_failure_limit": 2, "heartbeat_ttl": "3s"}


@pytest.fixture
def redis(start_redis: StartRedis) -> RedisServer:
    return start_redis()


@pytest.fixture
async def site(
    redis: RedisServer, module_login_urls: LoginUrls, module_admin_dsn: str, tmp_path: Path, start_worker: StartWorker
) -> AsyncIterator[Site]:
    backends = {"cache_backend": "redis", "topics_backend": "postgres", "redis_url": redis.url}
    async with open_site(module_login_urls, module_admin_dsn, tmp_path, start_worker, **backends) as opened:
        yield opened


async def test_the_port_answers_as_documented_when_a_worker_is_well(site: Site) -> None:
    worker = await site.worker()
    assert await worker.get("/healthz") == (HTTPStatus.OK, '{"status":"ok"}')
    assert await worker.get("/readyz") == (HTTPStatus.OK, '{"status":"ok"}')
    await site.queue.enqueue()
    await site.queue.until_done(1)
    assert await worker.metric('headrace_claims_total{kind="NOOP"}') == 1
    settled = 'headrace_settlements_total{kind="NOOP",outcome="done"}'
    await until(lambda: _is(worker, settled, 1), "the settlement is counted", tell=worker)
    assert [await worker.status_of(path) for path in ("/", "/docs", "/openapi.json")] == [HTTPStatus.NOT_FOUND] * 3


async def test_the_probes_say_no_and_then_yes_when_beats_fail_for_a_while(site: Site, redis: RedisServer) -> None:
    worker = await site.worker(liveness_loss="pause", **BEATS)
    assert await site.probed(worker) == (0, "")
    await asyncio.to_thread(redis.stop)
    await _until_healthz(worker, HTTPStatus.SERVICE_UNAVAILABLE)
    status, body = await worker.get("/healthz")
    told = json.loads(body)
    assert (status, told["status"]) == (HTTPStatus.SERVICE_UNAVAILABLE, "unavailable")
    assert "liveness beats in a row failed; claiming is paused" in told["problems"][0]
    code, said = await site.probed(worker)
    assert (code, "503" in said) == (1, True)
    # Readiness is another matter, and the metrics stay to be read.
    assert await worker.status_of("/readyz") == HTTPStatus.OK
    assert await worker.metric('headrace_worker{what="paused"}') == 1
    await asyncio.to_thread(redis.start)
    await _until_healthz(worker, HTTPStatus.OK)
    assert await site.probed(worker) == (0, "")


async def test_the_files_are_probed_when_a_worker_writes_some(site: Site) -> None:
    files = {name: site.marks.folder / name for name in ("heartbeat_file", "readiness_file")}
    assert (await site.probed(None, **files))[0] == 1
    worker = await site.worker(**files)
    assert await site.probed(worker, **files) == (0, "")
    assert await site.probed(worker, "--readiness", **files) == (0, "")
    await worker.killed()

    async def is_stale() -> bool:
        return (await site.probed(worker, **files))[0] == 1

    # The killed process left both behind; only the age of its beat gives it away.
    assert files["readiness_file"].exists()
    await until(is_stale, "the probe has seen that the beats stopped")
    assert (await site.probed(worker, "--readiness", **files))[0] == 1


async def test_the_probe_fails_in_a_sentence_when_nobody_answers_on_the_port(site: Site) -> None:
    worker = await site.worker()
    await worker.killed()
    code, said = await site.probed(worker)
    assert (code, "did not answer" in said) == (1, True)


async def _until_healthz(worker: WorkerProcess, status: HTTPStatus) -> None:
    async def answers() -> bool:
        return await worker.status_of("/healthz") == status

    await until(answers, f"/healthz answers {status}", tell=worker)


async def _is(worker: WorkerProcess, sample: str, value: float) -> bool:
    return await worker.metric(sample) == value
