"""The worker's service in the full compose file, between those of the other workers.

Where it goes is read off the parsed file; what is written is the one block, so that everything else stays as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.rendering.template_files import TEMPLATES, filled

_BLANK: Final = "\n"


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of the file; lines count from 0.

    Attributes:
        name: Its key.
        begins_at: Its first line, or that of the first comment directly above it.
        line: Its first line.
        ends_at: The line below its last that says something.
        is_worker: Whether its image is built by the Dockerfile of its name.
    """

    name: str
    begins_at: int
    line: int
    ends_at: int
    is_worker: bool


def add_service(worker_name: str, metrics_port: int, text: str) -> EditOutcome:
    """Add the service in front of the first worker's whose name sorts behind it, else behind the last worker's."""
    services, lines = _services(text), text.splitlines(keepends=True)
    block = _block(worker_name, metrics_port)
    workers = [each for each in services if each.is_worker]
    if not workers or not text.endswith("\n"):
        return _lost(block)
    if same := [each for each in services if each.name == worker_name]:
        return AlreadyThere() if same[0].is_worker else _taken(worker_name, block)
    after = [each for each in workers if each.name > worker_name]
    if after:
        return Done(_spliced(lines, after[0].begins_at, [block, _BLANK]))
    return Done(_spliced(lines, workers[-1].ends_at, [_BLANK, block]))


def remove_service(worker_name: str, metrics_port: int, text: str) -> EditOutcome:
    """Take the service out, with one of the blank lines around it, when it is as it was made."""
    services, lines = _services(text), text.splitlines(keepends=True)
    block = _block(worker_name, metrics_port)
    if not services:
        return _lost(block)
    same = next((each for each in services if each.name == worker_name), None)
    if same is None:
        return AlreadyThere()
    if "".join(lines[same.begins_at : same.ends_at]) != block:
        return Cannot(f"The service {worker_name} was edited: keep what you need of it, and take it out by hand.")
    has_blank_above = lines[same.begins_at - 1] == _BLANK
    begin = same.begins_at - (1 if has_blank_above else 0)
    end = same.ends_at + (0 if has_blank_above or lines[same.ends_at : same.ends_at + 1] != [_BLANK] else 1)
    return Done("".join((*lines[:begin], *lines[end:])))


def _block(worker_name: str, metrics_port: int) -> str:
    template = (TEMPLATES / "parts" / "compose_service.yml.jinja").read_text(encoding="utf-8")
    return filled(template, {"worker_name": worker_name, "metrics_port": metrics_port})


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
            line=line,
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


def _spliced(lines: list[str], at: int, new: list[str]) -> str:
    return "".join((*lines[:at], *new, *lines[at:]))


def _taken(worker_name: str, block: str) -> Cannot:
    return Cannot(f"There is a service {worker_name} that is no worker's: give it another name, then add\n{block}")


def _lost(block: str) -> Cannot:
    return Cannot(f"Expected `x-worker: &worker` and the services of workers in the file: add this to them\n{block}")
