"""The whole process over memory, stopped by event."""

from pathlib import Path

from acme_works.om.storage.impl.memory import StorageMemoryImpl
from acme_works.om.work.types.work_item import WorkItem, WorkStatus
from acme_works.workers.kit.testing import infra_for_tests, settings_for_tests
from acme_works.workers.x2.container import WorkerContainer
from acme_works.workers.x2.process import X2Process
from acme_works.workers.x2.settings import X2Settings
from workers.kit.tests.working_off import worked_off


async def test_the_item_is_done_and_the_process_ends_clean_when_it_is_asked_to_stop(
    tmp_path: Path, item: WorkItem
) -> None:
    files = {"heartbeat_file": tmp_path / "beat", "readiness_file": tmp_path / "ready"}
    settings = settings_for_tests(X2Settings, **files)
    container = WorkerContainer.for_tests(StorageMemoryImpl(), infra_for_tests(), settings=settings)
    settled = await worked_off(container.parts, X2Process(settings, container).build_runtime(), item)
    assert settled.status is WorkStatus.DONE
    assert settled.result["receipt_id"] == str(item.id)
