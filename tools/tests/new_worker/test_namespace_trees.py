"""A tree without the namespace gets it whole, as the repository has it, or is told what is in the way."""

import runpy
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headrace.tools.new_worker.exceptions import TreeError
from headrace.tools.new_worker.namespace import namespace_plan, strip_namespace
from headrace.tools.new_worker.namespace.source import find_source
from headrace.tools.new_worker.plan import FileState
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.namespace_shares import text_of
from tools.tests.new_worker.namespace_trees import CONCERNED, ROOT, copy_repository, give_namespace, plan_namespace
from tools.tests.new_worker.trees import lasting_changes, state_of

pytestmark = pytest.mark.timeout(300)

OM = "om/src/headrace/om"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What of the repository the namespace has to do with, for tests that leave it as it is."""
    return copy_repository(tmp_path_factory.mktemp("original") / "tree", *CONCERNED)


@pytest.fixture(scope="module")
def bare(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without the namespace, formatted as a developer's tree is; for tests that leave it as it is."""
    copy = Path(shutil.copytree(original, tmp_path_factory.mktemp("bare") / "tree"))
    strip_namespace(Tree.open(copy), is_formatted=True)
    return copy


@pytest.fixture
def stripped(bare: Path, tmp_path: Path) -> Path:
    """The same, for one test alone."""
    return Path(shutil.copytree(bare, tmp_path / "tree"))


def replace_in(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert text.count(old) == 1, f"{path}: {text.count(old)} times {old!r}"
    (root / path).write_text(text.replace(old, new))


def test_nothing_of_it_is_left_when_the_namespace_is_stripped(bare: Path) -> None:
    assert not (bare / OM / "work").exists()
    shared = [bare / OM / "root.py", *sorted((bare / OM / "storage").rglob("*.py"))]
    shared += sorted((bare / OM / "outbox").rglob("*.py"))
    speaking = [path for path in shared for word in ("headrace.om.work", "get_work") if word in path.read_text()]
    assert speaking == []
    required = (bare / "om/pyproject.toml").read_text()
    assert [name for name in ("cronsim", "tzdata") if name in required] == []
    assert "asyncpg" in required


def test_the_tree_is_the_same_as_ours_when_the_namespace_was_given_back(stripped: Path, original: Path) -> None:
    give_namespace(stripped, original)
    assert lasting_changes(stripped, state_of(original)) == []


def test_nothing_changes_when_a_tree_that_has_it_is_given_it(original: Path) -> None:
    assert {file.state for file in plan_namespace(original, original).files} == {FileState.IDENTICAL}


def test_it_comes_from_the_tree_that_the_generator_belongs_to() -> None:
    assert find_source().root == ROOT


# What somebody made of a shared file, which is to be there still.
HARMLESS = [
    (f"{OM}/root.py", "    audit: AuditManagerInterface\n", "    # Who did what.\n    audit: AuditManagerInterface\n"),
    (f"{OM}/root.py", "    events = EventsM", "    # Made before the relay.\n    events = EventsM"),
    (f"{OM}/storage/roles.py", "    CORE = ", '    BILLS = "bills"\n    CORE = '),
    (f"{OM}/storage/root.py", "    async def close(self)", "    # The last.\n    async def close(self)"),
    ("infra/src/headrace/infra/cache/__init__.py", "    IDEMPOTENCY =", '    SESSIONS = "sessions"\n    IDEMPOTENCY ='),
    ("om/pyproject.toml", '  "asyncpg>=0.30",\n', '  "arrow>=1.0",\n  "asyncpg[gssauth]>=0.31",\n'),
    ("om/README.md", "- A **webhook endpoint** is", "- A **bill** is due.\n- A **webhook endpoint** is"),
    ("pyproject.toml", "tenantless = [\n", 'tenantless = [\n  # By name.\n  "AaaStorageInterface.read",\n'),
]


def test_what_somebody_made_of_shared_files_is_kept(stripped: Path, original: Path) -> None:
    for path, old, new in HARMLESS:
        replace_in(stripped, path, old, new)
    give_namespace(stripped, original)
    for path, old, new in HARMLESS:
        replace_in(stripped, path, new, old)
    assert lasting_changes(stripped, state_of(original)) == []


# What is wrong with a shared file, and what the help tells.
SPOILT = [
    (f"{OM}/root.py", "    events: EventsM", "    feed: EventsM", "`Managers` has no `events`, behind which `work`"),
    (f"{OM}/storage/roles.py", '"events": DatabaseRole.ACTIVITY,', '"events": 1, "events": 2,', "more than one"),
    (f"{OM}/storage/root.py", "class StorageInterface(", "class Storages(", "`get_work_storage` belongs"),
    (f"{OM}/storage/impl/parts.py", "class StorageParts:", "class StorageParts", "no valid Python"),
    (f"{OM}/paging.py", "MAX_PAGE: Final", "LARGEST_PAGE: Final", "MAX_PAGE"),
    ("om/README.md", "A **user** is", "Somebody is", "**user**"),
    ("pyproject.toml", "options.CTX-12]", "options.CTX-99]", "`tool / arch-check / options / CTX-12 / tenantless`"),
]


def test_each_file_and_what_to_do_are_named_when_much_is_in_the_way(stripped: Path, original: Path) -> None:
    for path, old, new, _ in SPOILT:
        replace_in(stripped, path, old, new)
    (stripped / OM / "storage/impl/memory.py").unlink()
    begun = stripped / "om/migrations/versions/queue/202501010000_other.py"
    begun.parent.mkdir(parents=True)
    begun.write_text('"""Something else."""\n')
    before = state_of(stripped)
    told = {str(file.path): file.help for file in plan_namespace(stripped, original).conflicts}
    missing, revision = f"{OM}/storage/impl/memory.py", "om/migrations/versions/queue/202501010000_other.py"
    assert sorted(told) == sorted([path for path, *_ in SPOILT] + [missing, revision])
    assert [
        (path, told[path]) for path, _, _, help_ in SPOILT if help_ not in told[path] or path not in told[path]
    ] == []
    assert state_of(stripped) == before


def test_tests_of_the_tree_are_neither_missed_nor_lost(stripped: Path, original: Path) -> None:
    (stripped / "om/tests/unit/test_context.py").unlink()
    own = '"""Ours."""\n\nimport pytest\n\n\n@pytest.fixture\ndef ours() -> int:\n    return 1\n'
    (stripped / "om/tests/unit/conftest.py").write_text(own)
    give_namespace(stripped, original)
    assert lasting_changes(stripped, state_of(original)) == [
        "om/tests/unit/conftest.py",
        "om/tests/unit/test_context.py",
    ]
    text = (stripped / "om/tests/unit/conftest.py").read_text()
    assert own.partition("\n\n\n")[2] in text
    assert "from om.tests.unit.work_queue import Queue\n" in text
    assert "async def queue() -> Any:" in text


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the build's hook, for which the build backend, which is there while building only, is stood in."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    vars(interface)["BuildHookInterface"] = object
    for depth in range(1, 5):
        name = ".".join(interface.__name__.split(".")[:depth])
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    return runpy.run_path(str(ROOT / "tools/hatch_build.py"))


def copy_each(paths: Mapping[str, str], destination: Path) -> None:
    for start, end in paths.items():
        (destination / end).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if Path(start).is_dir() else shutil.copy
        copy(start, destination / end)


def test_a_packed_generator_gives_the_same_as_its_checkout(
    packing: dict[str, Any], bare: Path, original: Path, tmp_path: Path
) -> None:
    checkout = Path(shutil.copytree(original, tmp_path / "checkout"))
    for project in (checkout / "tools", tmp_path / "sdist"):
        (project / "src/headrace/tools").mkdir(parents=True)
    copy_each(packing["packed_paths"](checkout / "tools", is_wheel=False), tmp_path / "sdist")
    copy_each(packing["packed_paths"](tmp_path / "sdist", is_wheel=True), tmp_path / "wheel")
    here = tmp_path / "wheel/headrace/tools/new_worker/namespace"
    source = find_source(here / "source.py")
    assert source.root == here / "tree"
    creates, edits = namespace_plan(Tree.open(bare), source)
    texts = {**creates, **{edit.path: text_of(edit.apply((bare / edit.path).read_text())) for edit in edits}}
    assert sorted(map(str, texts)) == lasting_changes(bare, state_of(original))
    assert [path for path in texts if texts[path] != (original / path).read_text()] == []


def test_nothing_is_packed_when_the_project_stands_alone(packing: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "alone/src/headrace/tools").mkdir(parents=True)
    assert packing["packed_paths"](tmp_path / "alone", is_wheel=True) == {}


def test_a_generator_without_the_namespace_says_so(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"neither in .* nor packed with the generator"):
        find_source(tmp_path / "tools/src/acme/tools/new_worker/namespace/source.py")
