"""What must hold for every worker of the tree, also for those that are still to be made."""

import importlib
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.infra.settings import settings_catalogue
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.settings import WorkerSettings

if TYPE_CHECKING:
    from headrace.workers.kit.command import WorkerCommand

ROOT = Path(__file__).parents[2]

HEAVY = ("sqlalchemy", "asyncpg", "fastapi", "uvicorn", "redis", "alembic")
"""What a probe, which runs every few seconds beside the worker, must not pay for."""


def project_of(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "workers" / name / "pyproject.toml").read_text(encoding="utf-8"))


def table_of(name: str) -> dict[str, Any] | None:
    table: dict[str, Any] | None = project_of(name).get("tool", {}).get("headrace", {}).get("worker")
    return table


def settings_of(name: str) -> type[WorkerSettings]:
    command: WorkerCommand[Any, Any] = importlib.import_module(f"{package_of(name)}.main").COMMAND
    return command.settings


def package_of(name: str) -> str:
    return f"headrace.workers.{name.replace('-', '_')}"


FOLDERS = sorted(file.parent.name for file in ROOT.glob("workers/*/pyproject.toml"))
WORKERS = [name for name in FOLDERS if table_of(name) is not None]

every_worker = pytest.mark.parametrize("name", WORKERS)


def test_the_workers_are_found() -> None:
    assert {"maintenance", "webhook-dispatcher"} <= set(WORKERS)


@every_worker
def test_its_project_says_what_its_settings_do(name: str) -> None:
    table, fields = table_of(name), settings_of(name).model_fields
    assert table is not None
    assert table["kind"] in set(WorkKind)
    assert (table["lane"], table["metrics_port"]) == (fields["lane"].default, fields["metrics_port"].default)
    assert set(table["secrets"]) <= set(fields)


@every_worker
def test_its_console_script_and_its_entry_point_lead_to_the_same_function(name: str) -> None:
    project = project_of(name)["project"]
    main = f"{package_of(name)}.main:main"
    assert project["scripts"] == {f"headrace-{name}": main}
    assert project["entry-points"] == {"headrace.workers": {name: main}}
    assert importlib.import_module(f"{package_of(name)}.main").COMMAND.name == f"headrace-{name}"


@every_worker
def test_its_settings_bear_its_name(name: str) -> None:
    settings = settings_of(name)
    assert settings.env_scope == name.replace("-", "_").upper()
    assert settings.model_fields["service"].default == name
    assert settings.model_config.get("env_file") == (".env", f"workers/{name}/.env")


@every_worker
def test_each_of_its_settings_is_described(name: str) -> None:
    assert all(entry.description for entry in settings_catalogue(settings_of(name)))


@every_worker
def test_its_probe_loads_neither_a_driver_nor_a_server(name: str) -> None:
    script = f"import sys, {package_of(name)}.main; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=50)  # noqa: S603 - our own interpreter and script
    assert done.stdout.strip() == "[]"


def test_no_two_of_them_serve_on_one_port() -> None:
    ports = Counter(settings_of(name).model_fields["metrics_port"].default for name in WORKERS)
    assert [port for port, num in ports.items() if num > 1] == []


def test_no_two_of_them_handle_one_kind() -> None:
    kinds = Counter((table_of(name) or {})["kind"] for name in WORKERS)
    assert [kind for kind, num in kinds.items() if num > 1] == []
