"""The whole process over memory, stopped by event."""

from pathlib import Path

from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.testing import infra_for_tests, settings_for_tests
from headrace.workers.plain.container import WorkerContainer
from headrace.workers.plain.process import PlainProcess
from headrace.workers.plain.settings import PlainSettings
from workers.kit.tests.working_off import worked_off


async def test_the_item_is_done_and_the_process_ends_clean_when_it_is_asked_to_stop(
    tmp_path: Path, item: WorkItem
) -> None:
    files = {"heartbeat_file": tmp_path / "beat", "readiness_file": tmp_path / "ready"}
    settings = settings_for_tests(PlainSettings, **files)
    container = WorkerContainer.for_tests(StorageMemoryImpl(), infra_for_tests(), settings=settings)
    settled = await worked_off(container.parts, PlainProcess(settings, container).build_runtime(), item)
    assert settled.status is WorkStatus.DONE
    assert settled.result["receipt_id"] == str(item.id)
