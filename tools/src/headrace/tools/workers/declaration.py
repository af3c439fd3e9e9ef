"""One worker as its project declares it under `[tool.headrace.worker]`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from headrace.tools.workers.exceptions import WorkerDeclarationError
from headrace.tools.workers.fargate import MEMORY_OF_CPU, memory_words

TABLE: Final = "tool.headrace.worker"
PORTS: Final = range(1024, 65536)

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_KIND: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_SETTING: Final = re.compile(r"[a-z][a-z0-9_]*")
_MAX_LANE: Final = 100
_GIVEN: Final = frozenset({"name", "program"})


@dataclass(frozen=True, slots=True)
class WorkerDeclaration:
    """A worker role.

    Attributes:
        name: The worker's folder below `workers/`, in kebab case.
        program: Its console script.
        kind: The work kind that it handles, as `WorkKind` names it.
        lane: The lane that it claims from.
        metrics_port: Where it serves metrics and probes, unprivileged.
        cpu: CPU shares of a task; 1024 is one core.
        memory: Memory of a task in MiB.
        secrets: Settings, by field name, that are handed over as secrets besides those it cannot start without.
    """

    name: str
    program: str
    kind: str
    lane: str
    metrics_port: int
    cpu: int
    memory: int
    secrets: tuple[str, ...]

    @property
    def package(self) -> str:
        """The Python package's last part: `headrace.workers.<package>`."""
        return self.name.replace("-", "_")

    @property
    def image(self) -> str:
        """The image's name, without registry, tag and digest."""
        return image_name(self.name)

    @classmethod
    def parse(cls, name: str, program: str, table: Mapping[str, Any]) -> Self:
        """Build the declaration from the table of a project.

        Raises:
            WorkerDeclarationError: A key is missing, unknown or has a value that cannot be; every problem is told, each
                by its key. The caller knows the file and puts it in front.
        """
        if problems := tuple(_problems(name, table)):
            raise WorkerDeclarationError("; ".join(problems))
        return cls(name=name, program=program, **{**table, "secrets": tuple(table["secrets"])})


def image_name(folder: str) -> str:
    """Return the name of the image that the program of a folder below `workers/` is shipped in."""
    return f"headrace-{folder}"


def _problems(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    if not _NAME.fullmatch(name):
        yield f"the folder's name is {name!r}; expected lower-case words joined by hyphens"
    keys = {field.name for field in fields(WorkerDeclaration)} - _GIVEN
    for key in sorted(table.keys() - keys):
        yield f"{TABLE}.{key} is unknown; expected {', '.join(sorted(keys))}"
    for key in sorted(keys):
        if key not in table:
            yield f"{TABLE}.{key} is missing; expected {_EXPECTED[key]}"
        elif not _fits(key, table[key]):
            yield f"{TABLE}.{key} is {table[key]!r}; expected {_EXPECTED[key]}"
    yield from _size_problems(table)


def _size_problems(table: Mapping[str, Any]) -> Iterator[str]:
    cpu, memory = table.get("cpu"), table.get("memory")
    if not (isinstance(cpu, int) and isinstance(memory, int) and cpu in MEMORY_OF_CPU and memory > 0):
        return
    if memory not in MEMORY_OF_CPU[cpu]:
        yield f"{TABLE}.memory is {memory}; expected one of {memory_words(cpu)}, which go with a cpu of {cpu}"


_EXPECTED: Final[Mapping[str, str]] = {
    "kind": "a work kind in upper snake case, such as NOTIFY_SHIPMENT",
    "lane": f"a text of 1 to {_MAX_LANE} characters",
    "metrics_port": f"a port from {PORTS.start} to {PORTS.stop - 1}",
    "cpu": f"one of {', '.join(map(str, MEMORY_OF_CPU))} (1024 is one core)",
    "memory": "a number of MiB, a whole number above 0",
    "secrets": "a list of names of settings, none twice",
}


def _fits(key: str, value: object) -> bool:
    match key:
        case "kind":
            return isinstance(value, str) and _KIND.fullmatch(value) is not None
        case "lane":
            return isinstance(value, str) and 1 <= len(value) <= _MAX_LANE
        case "secrets":
            return isinstance(value, list) and _are_settings(value)
        case _:
            return isinstance(value, int) and not isinstance(value, bool) and value in _RANGES[key]


_RANGES: Final[Mapping[str, range | tuple[int, ...]]] = {
    "metrics_port": PORTS,
    "cpu": tuple(MEMORY_OF_CPU),
    "memory": range(1, 2**31),
}


def _are_settings(values: list[object]) -> bool:
    are_names = all(isinstance(each, str) and _SETTING.fullmatch(each) for each in values)
    return are_names and len(set(values)) == len(values)
