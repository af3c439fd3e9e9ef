"""Which files are the namespace's own, and which shared ones speak of it; read off the tree that has it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.namespace.cutting import cuts_of
from headrace.tools.new_worker.namespace.ownership import Ownership, SourceModule
from headrace.tools.new_worker.namespace.slices import Slice, slice_of
from headrace.tools.new_worker.namespace.source import Source, module_name

_OWN_PACKAGES: Final = ("work", "testing")
"""The packages of the object model that are the namespace: the queue, and what helps to test work."""

_OWN_TEST: Final = re.compile(r"(?:test_)?work_\w+\.py")
_TABLE: Final = re.compile(r'^ +__tablename__ = "(\w+)"$', re.MULTILINE)
_MIGRATIONS: Final = PurePosixPath("om/migrations")
_TESTS: Final = PurePosixPath("om/tests")
_MACHINE: Final = _TESTS / "stateful"
"""The state machine that drives the queue: every file of it speaks of nothing else."""

_MAX_ROUNDS: Final = 20


@dataclass(frozen=True, slots=True)
class Inventory:
    """The namespace, file by file.

    Attributes:
        own: The files that are there for it alone, in order.
        shared: Its share of each Python file that others use too.
    """

    own: tuple[PurePosixPath, ...]
    shared: Mapping[PurePosixPath, Slice]


def inventory_of(source: Source) -> Inventory:
    """Take stock: the folders and tables say what is the namespace's, the syntax says who depends on it."""
    packages = [path for name in _OWN_PACKAGES for path in source.files(source.om / name)]
    tables = frozenset(name for path in packages for name in _TABLE.findall(_text(source, path)))
    tests = [path for path in source.files(_TESTS) if _OWN_TEST.fullmatch(path.name) or _MACHINE in path.parents]
    own = {*packages, *tests, *_wakeups(source), *_migrations(source, tables)}
    survey = _Survey(source, own, _ownership(source, own, tables))
    shared = survey.shares()
    return Inventory(tuple(sorted(own)), shared)


@dataclass(frozen=True, slots=True)
class _Survey:
    """A look through the files that others use too; notes which of them are the namespace's after all."""

    source: Source
    own: set[PurePosixPath]
    ownership: Ownership

    def shares(self) -> dict[PurePosixPath, Slice]:
        """Return the namespace's share of each file; those that are nothing else become its own."""
        modules = list(_modules(self.source, self.own))
        while True:
            self._learn(modules)
            concerned = [module for module in modules if self.ownership.concerns(module)]
            shares = {module: share for module in concerned if (share := slice_of(module, self.ownership))}
            taken = [module for module, share in shares.items() if share.is_all and module.path.name != "conftest.py"]
            if not taken:
                return {module.path: share for module, share in shares.items()}
            for module in taken:
                self.own.add(module.path)
                self.ownership.add_module(module.name)
                modules.remove(module)

    def _learn(self, modules: list[SourceModule]) -> None:
        """Follow who depends on whom until nothing new turns up."""
        for _ in range(_MAX_ROUNDS):
            known = self.ownership.size
            for module in modules:
                if self.ownership.concerns(module):
                    cuts_of(module, self.ownership)
            if self.ownership.size == known:
                return


def _ownership(source: Source, own: set[PurePosixPath], tables: frozenset[str]) -> Ownership:
    root = source.root_package
    packages = {f"{root}.om.{name}" for name in _OWN_PACKAGES}
    modules = {module_name(path) for path in own if path.suffix == ".py" and _MIGRATIONS not in path.parents}
    alone = {name for name in modules if not any(name == each or name.startswith(f"{each}.") for each in packages)}
    roots = {
        f"{root}.infra.topics": re.compile(r"(?:Topics\.)?(?:WORK|BUNDLE|SCHEDULE|Work|Bundle|Schedule)\w*"),
        f"{root}.infra.cache": re.compile(r"CacheScope\.WORKER_\w*"),
        f"{root}.om.context": re.compile(r"Permission\.(?:WORK|SCHEDULE)_\w*"),
    }
    return Ownership(packages | alone, roots, tables)


def _wakeups(source: Source) -> Iterator[PurePosixPath]:
    """Yield what coalesces the wake-ups of lanes: in infra, since topics are, and for the queue alone."""
    for path in (source.infra / "topics" / "wakeups.py", PurePosixPath("infra/tests/topics/test_wakeups.py")):
        if source.read(path) is not None:
            yield path


def _migrations(source: Source, tables: frozenset[str]) -> Iterator[PurePosixPath]:
    """Yield every migration that names one of the tables, with its way back and its wrapper."""
    named = re.compile(rf"\b\w+\.(?:{'|'.join(sorted(tables))})\b")
    for path in source.files(_MIGRATIONS / "sql"):
        if path.name.endswith(".up.sql") and named.search(_text(source, path)):
            stem, role = path.name.removesuffix(".up.sql"), path.parent.name
            yield from (path, path.with_name(f"{stem}.down.sql"), _MIGRATIONS / "versions" / role / f"{stem}.py")


def _modules(source: Source, own: set[PurePosixPath]) -> Iterator[SourceModule]:
    """Yield the Python files that the namespace may have a share in: not those of whoever builds on it."""
    clients = _clients(source, own)
    imports = re.compile(rf"\b{source.root_package}\.om\.(?:{'|'.join(sorted(clients))})\b") if clients else None
    for folder in (source.om, source.infra, _TESTS):
        for path in source.files(folder):
            if path.suffix != ".py" or path in own or clients.intersection(path.parts):
                continue
            text = _text(source, path)
            if folder != _TESTS or imports is None or not imports.search(text):
                yield SourceModule(path, module_name(path), text)


def _clients(source: Source, own: set[PurePosixPath]) -> frozenset[str]:
    """Return the namespaces that use this one and are not used by it."""
    namespaces = {path.parent.name for path in source.files(source.om) if path.name == "manager.py"}
    used = _mentioned(source, (path for path in own if source.om in path.parents))
    return frozenset(
        name
        for name in namespaces - used - set(_OWN_PACKAGES)
        if _OWN_PACKAGES[0] in _mentioned(source, source.files(source.om / name))
    )


def _mentioned(source: Source, paths: Iterator[PurePosixPath]) -> frozenset[str]:
    """Return the parts of the object model that files name."""
    part = re.compile(rf"\b{source.root_package}\.om\.(\w+)")
    return frozenset(name for path in paths for name in part.findall(_text(source, path)))


def _text(source: Source, path: PurePosixPath) -> str:
    return source.read(path) or ""
