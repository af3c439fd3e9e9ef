"""The maintenance worker as it is shipped, in an interpreter of its own."""

import signal

import pytest

from headrace.infra.background.runtime import ExitCode
from headrace.om.storage.settings import StorageSettings
from headrace.tools.dev import LoginUrls
from tests.chaos.queue import open_queue
from tests.fixtures.database import settings_for
from tests.fixtures.workers import StartWorker

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

MODULE = "headrace.workers.maintenance.main"


async def test_an_item_is_done_and_the_worker_probed_and_stopped_when_the_shipped_program_runs(
    module_login_urls: LoginUrls, storage_settings: StorageSettings, start_worker: StartWorker
) -> None:
    assert storage_settings.topics_backend == "postgres"
    environment = module_login_urls.environment()
    worker = await start_worker(environment, module=MODULE, is_fresh=True).ready()
    async with open_queue(settings_for(module_login_urls)) as queue:
        item_id = await queue.enqueue("seen", lane="maintenance")
        await queue.until_done(1)
        assert (await queue.item(item_id)).result == {"note": "seen"}
    probe = start_worker(
        environment, {"metrics_port": worker.port}, module=MODULE, subcommand=("healthcheck",), is_fresh=True
    )
    assert (await probe.ended(), probe.output) == (0, "")
    worker.send(signal.SIGTERM)
    assert await worker.ended() == ExitCode.CLEAN


async def test_the_shipped_program_refuses_in_a_sentence_when_settings_do_not_fit(
    module_login_urls: LoginUrls, start_worker: StartWorker
) -> None:
    worker = start_worker(module_login_urls.environment(), {"lease": "2s", "renewal_interval": "1s"}, module=MODULE)
    assert await worker.ended() == ExitCode.START_FAILED
    assert "expected at least 3 times renewal_interval" in worker.output
    assert "Traceback" not in worker.output
