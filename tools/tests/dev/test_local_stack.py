from collections.abc import Mapping
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError, LocalServers, login_urls
from headrace.tools.dev.local_stack import LocalStack
from headrace.tools.dev.session import Ground
from headrace.workers.console.worker_programs import WORKERS_GROUP, installed_workers

ADMIN = "postgresql://postgres:hunter2@127.0.0.1:1/headrace"


def stack(tmp_path: Path, environment: Mapping[str, str], redis_url: str | None = None) -> LocalStack:
    servers = LocalServers(database_url=ADMIN, redis_url=redis_url, descriptions=())
    return LocalStack(tmp_path, Ground(servers=servers, logins=login_urls(ADMIN)), environment)


def test_processes_get_the_logins_and_never_the_administrator(tmp_path: Path) -> None:
    given = stack(tmp_path, {"HEADRACE_DATABASE_URL": ADMIN, "PATH": "/bin"})
    for program in given.programs():
        assert "hunter2" not in str(program.environment.values())
        assert program.environment["HEADRACE_DATABASE_URL"] == "postgresql://127.0.0.1:1/headrace"
        assert program.environment["PATH"] == "/bin"


def test_the_environment_outranks_what_makes_a_local_run_quick(tmp_path: Path) -> None:
    name = "HEADRACE_WEBHOOK_DISPATCHER_POST_READ_TIMEOUT"
    assert stack(tmp_path, {name: "9s"}).settings()[name] == "9s"
    assert stack(tmp_path, {name: ""}).settings()[name] == "2s"


def test_the_cache_is_in_memory_when_there_is_no_redis(tmp_path: Path) -> None:
    assert stack(tmp_path, {}).settings()["HEADRACE_CACHE_BACKEND"] == "memory"
    shared = stack(tmp_path, {}, "redis://127.0.0.1:2/0").settings()
    assert (shared["HEADRACE_CACHE_BACKEND"], shared["HEADRACE_REDIS_URL"]) == ("redis", "redis://127.0.0.1:2/0")


def test_a_workers_port_may_be_given(tmp_path: Path) -> None:
    ports = {each.name: each.port for each in stack(tmp_path, {"HEADRACE_MAINTENANCE_METRICS_PORT": "9000"}).programs()}
    assert (ports["maintenance"], ports["webhook-dispatcher"]) == (9000, None)


def test_every_installed_worker_runs_and_maintenance_starts_first(tmp_path: Path) -> None:
    names = [each.name for each in stack(tmp_path, {}).programs()]
    assert names[0] == "maintenance"
    assert sorted(names) == sorted(installed_workers())


def test_a_worker_that_was_added_runs_without_an_edit_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "headrace_added-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: headrace-added\nVersion: 1\n", encoding="ascii")
    # Its console script is one that is there.
    scripts = "[console_scripts]\nheadrace-maintenance = added.main:main\n"
    (info / "entry_points.txt").write_text(f"{scripts}[{WORKERS_GROUP}]\nadded = added.main:main\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    added = next(each for each in stack(tmp_path, {}).programs() if each.name == "added")
    assert (added.argv[1], added.port_variable) == ("serve", "HEADRACE_ADDED_METRICS_PORT")


@pytest.mark.parametrize("port", ["abc", "-1", "65536", "\u0661"])
def test_a_port_that_is_none_is_told(tmp_path: Path, port: str) -> None:
    with pytest.raises(DevServerError, match="HEADRACE_MAINTENANCE_METRICS_PORT"):
        stack(tmp_path, {"HEADRACE_MAINTENANCE_METRICS_PORT": port}).programs()


def test_the_console_is_of_this_installation_whatever_the_shell_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_CONSOLE_DATABASE_URL", "postgresql://elsewhere/other")
    monkeypatch.setenv("HEADRACE_REDIS_URL", "redis://elsewhere/0")
    settings = stack(tmp_path, {}).console().settings
    assert settings.database_url.get_secret_value() == "postgresql://127.0.0.1:1/headrace"
    assert (settings.redis_url, settings.secrets_dir) == (None, tmp_path / "secrets")
