import asyncio
from pathlib import Path

import pytest

from headrace.infra.background.runtime import BackgroundRuntime, ExitCode
from headrace.infra.background.signals import FileHeartbeat, FileReadiness
from headrace.infra.boot import BootedProcess
from headrace.workers.kit.command import WorkerCommand, worker_main
from headrace.workers.kit.healthcheck import health_problems, healthcheck_main
from headrace.workers.kit.loop import HasWorkLoop
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.testing import settings_for_tests
from workers.kit.tests.workbench import bench, until


class ProbedSettings(WorkerSettings):
    env_scope = "PROBED"


def unused(_settings: ProbedSettings, _booted: BootedProcess) -> BackgroundRuntime[HasWorkLoop]:
    raise AssertionError("no runtime is wanted here")


COMMAND = WorkerCommand("headrace-probed", ProbedSettings, unused)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADRACE_ENVIRONMENT", "test")
    monkeypatch.setenv("HEADRACE_DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")
    monkeypatch.setenv("HEADRACE_DATABASE_RUNTIME_PASSWORD", "unused")
    monkeypatch.setenv("HEADRACE_DATABASE_SYSTEM_PASSWORD", "unused")
    return monkeypatch


def set_files(environment: pytest.MonkeyPatch, folder: Path) -> tuple[Path, Path]:
    beat, ready = folder / "beat", folder / "ready"
    environment.setenv("HEADRACE_PROBED_HEARTBEAT_FILE", str(beat))
    environment.setenv("HEADRACE_PROBED_READINESS_FILE", str(ready))
    return beat, ready


def test_the_probe_succeeds_when_the_file_beats(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    beat, ready = set_files(environment, tmp_path)
    FileHeartbeat(beat).beat()
    assert worker_main(COMMAND, ["healthcheck"]) == 0
    assert worker_main(COMMAND, ["healthcheck", "--readiness"]) == 1
    FileReadiness(ready).mark_ready()
    assert worker_main(COMMAND, ["healthcheck", "--readiness"]) == 0


def test_the_probe_fails_with_the_reason_when_nothing_beats(
    environment: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_files(environment, tmp_path)
    assert worker_main(COMMAND, ["healthcheck"]) == 1
    assert "no heartbeat can be read" in capsys.readouterr().err


def test_the_probe_fails_with_the_reason_when_the_settings_cannot_be_read(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("HEADRACE_PROBED_LEASE", "soon")
    assert worker_main(COMMAND, ["healthcheck"]) == 1
    assert healthcheck_main(ProbedSettings) == 1
    assert "HEADRACE_PROBED_LEASE" in capsys.readouterr().err


def test_serving_is_refused_when_two_settings_do_not_fit(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("HEADRACE_PROBED_DRAIN_BUDGET", "40s")
    assert worker_main(COMMAND, ["serve"]) == ExitCode.START_FAILED
    assert "drain_budget=40s" in capsys.readouterr().err


def test_a_usage_error_is_told_when_no_subcommand_is_given() -> None:
    with pytest.raises(SystemExit) as ended:
        worker_main(COMMAND, [])
    assert ended.value.code == 2


async def test_the_port_is_asked_when_no_files_are_set() -> None:

    async with bench(heartbeat_failure_limit=1) as one, one.running("server"):
        await until(lambda: one.loop.server.port != 0, "the port is bound")
        settings = settings_for_tests(WorkerSettings, metrics_port=one.loop.server.port, metrics_host="0.0.0.0")  # noqa: S104 - asked, not bound
        assert await asyncio.to_thread(health_problems, settings, readiness=False) == ()
        one.loop.core.state.note_beat(is_good=False)
        (problem,) = await asyncio.to_thread(health_problems, settings, readiness=False)
        assert "503" in problem


def test_the_port_is_told_when_nothing_answers_there(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HEADRACE_PROBED_METRICS_PORT", "1")
    assert worker_main(COMMAND, ["healthcheck"]) == 1
