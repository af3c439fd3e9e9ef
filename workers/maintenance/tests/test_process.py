"""The whole process over memory, stopped by event."""

from pathlib import Path

from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.testing import infra_for_tests, settings_for_tests
from headrace.workers.maintenance.container import WorkerContainer
from headrace.workers.maintenance.process import MaintenanceProcess
from headrace.workers.maintenance.settings import MaintenanceSettings
from workers.kit.tests.working_off import worked_off


async def test_the_item_is_done_and_the_process_ends_clean_when_it_is_asked_to_stop(tmp_path: Path) -> None:
    files = {"heartbeat_file": tmp_path / "beat", "readiness_file": tmp_path / "ready"}
    settings = settings_for_tests(MaintenanceSettings, **files)
    container = WorkerContainer.for_tests(StorageMemoryImpl(), infra_for_tests(), settings=settings)
    runtime = MaintenanceProcess(settings, container).build_runtime()
    settled = await worked_off(container.parts, runtime, WorkItem(kind=WorkKind.NOOP, origin="test"))
    assert (settled.status, settled.result) == (WorkStatus.DONE, {"note": ""})
