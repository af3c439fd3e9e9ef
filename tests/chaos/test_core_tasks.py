"""A worker one of whose own loops breaks."""

from typing import Final

import pytest

from headrace.infra.background.runtime import ExitCode
from headrace.om.work.types.work_item import WorkStatus
from tests.chaos.site import Site
from tests.chaos.worker import RENEWAL_THREAD
from tests.fixtures.workers import WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(150)]

TASKS: Final = (
    "claim-loop",
    "sweep",
    "relay",
    "schedules",
    "settler",
    "lease-renewal",
    "overdue-items",
    RENEWAL_THREAD,
    "liveness",
    "loop-lag",
    "metrics-server",
    "heartbeat-file",
)
END_SECONDS: Final = 20.0


async def test_the_process_fails_and_its_item_is_free_again_when_any_of_its_tasks_fails(site: Site) -> None:
    # Side by side, since each of them takes a while.
    workers = {task: _begin(site, task) for task in TASKS}
    items = {task: await site.queue.enqueue("hold", lane=task) for task in TASKS}
    for worker in workers.values():
        await site.until_held(await worker.ready(), 1)
    site.marks.fail.touch()
    codes = {task: await worker.ended(END_SECONDS) for task, worker in workers.items()}
    assert codes == dict.fromkeys(TASKS, ExitCode.TASK_FAILED)
    assert {task for task in TASKS if f"planted in {task}" not in workers[task].output} == set()
    rows = {task: await site.queue.item(item) for task, item in items.items()}
    free = {task: (row.status, row.attempts) for task, row in rows.items()}
    assert free == dict.fromkeys(TASKS, (WorkStatus.QUEUED, 0))


def _begin(site: Site, task: str) -> WorkerProcess:
    files = {name: site.marks.folder / f"{task}.{name}" for name in ("heartbeat_file", "readiness_file")}
    return site.begin(failing_task=task, lane=task, capacity=1, lease="60s", **files)


async def test_every_task_of_a_worker_is_among_those_that_were_broken(site: Site) -> None:
    worker = await site.worker(
        heartbeat_file=site.marks.folder / "heartbeat", readiness_file=site.marks.folder / "readiness"
    )
    await until(lambda: f"ready, {len(TASKS) - 1} tasks" in worker.output, "the number of tasks is told", tell=worker)
