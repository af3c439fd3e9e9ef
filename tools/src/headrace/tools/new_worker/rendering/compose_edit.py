"""The worker's service in the full compose file, between those of the other workers.

Where it goes is read off the parsed file; what is written is one line, so that everything else stays as it is, and so
that the lines of two branches can stand beside each other: git merges this file by union (`.gitattributes`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.rendering.template_files import TEMPLATES, filled


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of the file; lines count from 0.

    Attributes:
        name: Its key.
        begins_at: Its first line, or that of the first comment directly above it.
        ends_at: The line below its last that says something.
        is_worker: Whether its image is built by the Dockerfile of its name.
    """

    name: str
    begins_at: int
    ends_at: int
    is_worker: bool


def add_service(worker_name: str, metrics_port: int, text: str) -> EditOutcome:
    """Add the service in front of the first worker's whose name sorts behind it, else behind the last worker's."""
    services, lines = _services(text), text.splitlines(keepends=True)
    line = _line(worker_name, metrics_port, text)
    workers = [each for each in services if each.is_worker]
    if not workers or not text.endswith("\n"):
        return _lost(line)
    if same := [each for each in services if each.name == worker_name]:
        return AlreadyThere() if same[0].is_worker else _taken(worker_name, line)
    after = [each.begins_at for each in workers if each.name > worker_name]
    at = after[0] if after else workers[-1].ends_at
    return Done("".join((*lines[:at], line, *lines[at:])))


def remove_service(worker_name: str, metrics_port: int, text: str) -> EditOutcome:
    """Take the service out when it is as it was made."""
    services, lines = _services(text), text.splitlines(keepends=True)
    line = _line(worker_name, metrics_port, text)
    if not services:
        return _lost(line)
    same = next((each for each in services if each.name == worker_name), None)
    if same is None:
        return AlreadyThere()
    if "".join(lines[same.begins_at : same.ends_at]) != line:
        return Cannot(f"The service {worker_name} was edited: keep what you need of it, and take it out by hand.")
    return Done("".join((*lines[: same.begins_at], *lines[same.ends_at :])))


def _line(worker_name: str, metrics_port: int, text: str) -> str:
    """Return the service's line, with the line end that the file's last line has."""
    template = (TEMPLATES / "parts" / "compose_service.yml.jinja").read_text(encoding="utf-8")
    line = filled(template, {"worker_name": worker_name, "metrics_port": metrics_port})
    return line.replace("\n", "\r\n") if text.endswith("\r\n") else line


def _services(text: str) -> tuple[_Service, ...]:
    """Return the file's services in their order; none where it is no compose file with the workers' common block."""
    try:
        document = YAML(typ="rt", pure=True).load(text)
    except YAMLError:
        return ()
    if not isinstance(document, CommentedMap) or not _has_common_block(document):
        return ()
    services = document.get("services")
    return tuple(_read(services, text.splitlines())) if isinstance(services, CommentedMap) else ()


def _has_common_block(document: CommentedMap) -> bool:
    block = document.get("x-worker")
    return isinstance(block, CommentedMap) and block.anchor.value == "worker"


def _read(services: CommentedMap, lines: list[str]) -> Iterator[_Service]:
    for name, service in services.items():
        line, column = services.lc.key(name)
        yield _Service(
            name=str(name),
            begins_at=_first_comment(lines, line),
            ends_at=_end(lines, line, column),
            is_worker=_dockerfile(service) == f"deployment/docker/{name}.Dockerfile",
        )


def _dockerfile(service: Any) -> object:  # noqa: ANN401 - whatever the file holds there
    build = service.get("build") if isinstance(service, CommentedMap) else None
    return build.get("dockerfile") if isinstance(build, CommentedMap) else None


def _first_comment(lines: list[str], line: int) -> int:
    while lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def _end(lines: list[str], line: int, column: int) -> int:
    """Return the line below the block that begins at a line: what follows is indented no deeper, or nothing follows."""
    end = line + 1
    for at in range(line + 1, len(lines)):
        if lines[at].strip():
            if len(lines[at]) - len(lines[at].lstrip()) <= column:
                break
            end = at + 1
    return end


def _taken(worker_name: str, line: str) -> Cannot:
    return Cannot(f"There is a service {worker_name} that is no worker's: give it another name, then add\n{line}")


def _lost(line: str) -> Cannot:
    return Cannot(f"Expected `x-worker: &worker` and the services of workers in the file: add this to them\n{line}")
