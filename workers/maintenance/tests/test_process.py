"""The whole process over memory, stopped by event."""

import asyncio
import tomllib
from pathlib import Path

from headrace.infra.background.runtime import BackgroundRunner, ExitCode
from headrace.infra.background.stopping import StopSwitch
from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.testing import infra_for_tests, settings_for_tests
from headrace.workers.maintenance.container import WorkerContainer
from headrace.workers.maintenance.process import MaintenanceProcess
from headrace.workers.maintenance.settings import MaintenanceSettings

LANE = "maintenance"


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_the_process_does_its_work_and_ends_clean_when_it_is_asked_to_stop(tmp_path: Path) -> None:
    files = {"heartbeat_file": tmp_path / "beat", "readiness_file": tmp_path / "ready"}
    settings = settings_for_tests(MaintenanceSettings, **files)
    container = WorkerContainer.for_tests(StorageMemoryImpl(), infra_for_tests())
    work, switch = container.parts.managers.work, StopSwitch()
    rctx = RequestContext(app=AppContext(type=AppType.TEST, version="test"))
    ctx = await container.parts.managers.tenancy.create_org(
        rctx, Org(name="Org"), User(name="Owner", login_name="owner")
    )
    item = await work.enqueue(ctx, WorkItem(kind=WorkKind.NOOP, origin="test", lane=LANE))
    runner = BackgroundRunner(MaintenanceProcess(settings, container).build_runtime(), signals=())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        serving = group.create_task(runner.serve(switch))
        while (await work.get_item(ctx, item.id)).status is not WorkStatus.DONE:  # noqa: ASYNC110 - the queue has no event
            await asyncio.sleep(0.01)
        assert settings.readiness_file is not None
        assert settings.readiness_file.exists()
        switch.request()
    assert serving.result() is ExitCode.CLEAN
    assert files_in(tmp_path) == []


def test_the_project_file_says_what_the_settings_do() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    worker = project["tool"]["headrace"]["worker"]
    settings = settings_for_tests(MaintenanceSettings, metrics_port=worker["metrics_port"])
    assert (worker["kind"], worker["lane"]) == (WorkKind.NOOP, settings.lane)
    assert worker["metrics_port"] == MaintenanceSettings.model_fields["metrics_port"].default
    assert set(worker["secrets"]) <= set(MaintenanceSettings.model_fields)
