"""Each contract of `.importlinter` holds for a tree like ours and breaks when one import is planted."""

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[3] / ".importlinter"

MODULES = (
    "infra.cache",
    "infra.topics",
    "om.base",
    "om.context",
    "om.exceptions",
    "om.outbox.impl.manager",
    "om.outbox.manager",
    "om.outbox.storage.impl.postgres",
    "om.outbox.storage.tables.rows",
    "om.root",
    "om.storage.impl.postgres",
    "om.testing.container",
    "om.work.impl.manager",
    "om.work.manager",
    "om.work.rules",
    "om.work.storage.impl.postgres",
    "om.work.storage.tables.items",
    "om.work.types.item",
    "tools.bench",
    "workers.console.main",
    "workers.kit.loop",
    "workers.maintenance.main",
)
IMPORTS = (
    ("infra.cache", "headrace.infra.topics"),
    ("om.context", "headrace.om.base"),
    ("om.outbox.impl.manager", "headrace.om.outbox.storage"),
    ("om.outbox.impl.manager", "headrace.om.work.manager"),
    ("om.root", "headrace.om.outbox.impl.manager"),
    ("om.root", "headrace.om.work.impl.manager"),
    ("om.storage.impl.postgres", "headrace.om.work.storage.impl.postgres"),
    ("om.storage.impl.postgres", "sqlalchemy"),
    ("om.testing.container", "headrace.om.root"),
    ("om.work.impl.manager", "headrace.infra.topics"),
    ("om.work.impl.manager", "headrace.om.work.storage"),
    ("om.work.manager", "headrace.om.work.types.item"),
    ("om.work.storage.impl.postgres", "headrace.om.work.storage.tables.items"),
    ("om.work.storage.tables.items", "sqlalchemy"),
    ("om.work.types.item", "headrace.om.base"),
    ("tools.bench", "headrace.workers.kit.loop"),
    ("workers.console.main", "headrace.workers.kit.loop"),
    ("workers.kit.loop", "headrace.om.root"),
    ("workers.maintenance.main", "headrace.workers.kit"),
)
VIOLATIONS = {
    "packages": ("infra.cache", "headrace.om.base"),
    "packages, by a new part": ("extra", "headrace.om.base"),
    "packages, by a worker": ("workers.kit.loop", "headrace.tools.bench"),
    "workers": ("workers.console.main", "headrace.workers.maintenance.main"),
    "workers, by the kit": ("workers.kit.loop", "headrace.workers.console.main"),
    "centre": ("om.base", "headrace.om.work.rules"),
    "interfaces": ("om.work.manager", "headrace.om.work.impl.manager"),
    "storage-interfaces": ("om.work.storage", "headrace.om.work.storage.tables.items"),
    "implementations": ("om.work.impl.manager", "headrace.om.outbox.impl.manager"),
    "storages": ("om.outbox.impl.manager", "headrace.om.work.storage.impl.postgres"),
    "drivers": ("om.work.impl.manager", "sqlalchemy"),
    "wiring": ("om.work.impl.manager", "headrace.om.root"),
    "cycles": ("infra.topics", "headrace.infra.cache"),  # the way back is among the imports
}


def make_tree(root: Path, imports: tuple[tuple[str, str], ...]) -> None:
    """Write the package with every folder a package, but for the namespace ones, as ours has them."""
    for name in (*MODULES, *(importer for importer, _ in imports)):
        path = root.joinpath("headrace", *name.split("."))
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".py").touch()
    for folder in (path for path in root.glob("headrace/**/") if path.name not in {"headrace", "workers"}):
        (folder / "__init__.py").touch()
    for importer, imported in imports:
        path = root.joinpath("headrace", *importer.split("."))
        target = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        target.write_text(f"{target.read_text()}import {imported}\n")


def lint(root: Path, contract: str = "") -> subprocess.CompletedProcess[str]:
    """Run the linter in a process whose path has the tree in the place of the installed packages."""
    limit = (contract,) if contract else ()
    script = f"""
import sys
sys.path[:] = [{str(root)!r}, *(each for each in sys.path if not each.rstrip("/").endswith("/src"))]
from importlinter.cli import lint_imports
sys.exit(lint_imports({str(CONFIG)!r}, limit_to_contracts={limit!r}, no_cache=True, no_logo=True))
"""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=50)  # noqa: S603 - our own interpreter and script


def test_contracts_are_kept_when_imports_go_one_way(tmp_path: Path) -> None:
    make_tree(tmp_path, IMPORTS)
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_contract_is_broken_when_an_import_is_planted(tmp_path: Path, violation: str) -> None:
    make_tree(tmp_path, (*IMPORTS, VIOLATIONS[violation]))
    done = lint(tmp_path, violation.partition(",")[0])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 broken" in done.stdout


def test_every_contract_has_a_violation() -> None:
    config = configparser.ConfigParser()
    config.read(CONFIG)
    contracts = {name.rpartition(":")[2] for name in config.sections() if ":contract:" in name}
    assert {violation.partition(",")[0] for violation in VIOLATIONS} == contracts
