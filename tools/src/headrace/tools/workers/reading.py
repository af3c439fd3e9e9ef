"""Finds the workers of a tree: the folders below `workers/` whose project has the table."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.tools.workers.declaration import TABLE, WorkerDeclaration, image_name
from headrace.tools.workers.exceptions import WorkerDeclarationError


@dataclass(frozen=True, slots=True)
class ImageDeclaration:
    """A program of the tree that is shipped as an image: every worker, and the console.

    Attributes:
        name: The folder below `workers/`.
        program: The console script that the image runs.
        distribution: The distribution that brings it.
        worker: The worker's declaration; None for a program that is no worker role.
    """

    name: str
    program: str
    distribution: str
    worker: WorkerDeclaration | None

    @property
    def image(self) -> str:
        """The image's name, without registry, tag and digest."""
        return image_name(self.name)


def read_workers(root: Path) -> tuple[WorkerDeclaration, ...]:
    """Return every worker that the tree declares, by name; folders without the table are no workers.

    Args:
        root: The working tree.

    Returns:
        The declarations, valid each by itself and beside each other; empty where the tree has none.

    Raises:
        WorkerDeclarationError: A project cannot be read, a key is missing, unknown or wrong, or two workers claim one
            port; the sentence names the file and the key.
    """
    return tuple(image.worker for image in read_images(root) if image.worker is not None)


def read_images(root: Path) -> tuple[ImageDeclaration, ...]:
    """Return every program of the tree that is shipped as an image, by name: the folders with a console script.

    Raises:
        WorkerDeclarationError: As for `read_workers`.
    """
    images = tuple(_images(root))
    _refuse_shared_ports(images)
    return images


def _images(root: Path) -> Iterator[ImageDeclaration]:
    for file in sorted(root.glob("workers/*/pyproject.toml")):
        shown = file.relative_to(root).as_posix()
        project = _read(file, shown)
        table = _dig(project, TABLE)
        scripts = _dig(project, "project.scripts") or {}
        if table is None and not scripts:
            continue
        if len(scripts) != 1:
            raise WorkerDeclarationError(f"{shown}: project.scripts has {len(scripts)} programs; expected exactly one")
        (program,) = scripts
        yield ImageDeclaration(
            name=file.parent.name,
            program=program,
            distribution=str(_dig(project, "project", "name")),
            worker=None if table is None else _worker(shown, file.parent.name, program, table),
        )


def _worker(shown: str, name: str, program: str, table: object) -> WorkerDeclaration:
    if not isinstance(table, Mapping):
        raise WorkerDeclarationError(f"{shown}: {TABLE} is {table!r}; expected a table")
    try:
        return WorkerDeclaration.parse(name, program, table)
    except WorkerDeclarationError as error:
        raise WorkerDeclarationError(f"{shown}: {error}") from None


def _read(file: Path, shown: str) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WorkerDeclarationError(f"{shown}: cannot be read as TOML: {error}") from None


def _dig(document: Mapping[str, Any], dotted: str, *more: str) -> Any:  # noqa: ANN401 - whatever TOML holds there
    """Return what stands under a dotted key, or None."""
    found: Any = document
    for part in (*dotted.split("."), *more):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _refuse_shared_ports(images: tuple[ImageDeclaration, ...]) -> None:
    """Refuse two workers on one port: the local stack runs them side by side."""
    holders: dict[int, str] = {}
    for worker in (image.worker for image in images if image.worker is not None):
        holder = holders.setdefault(worker.metrics_port, worker.name)
        if holder != worker.name:
            raise WorkerDeclarationError(
                f"workers/{worker.name}/pyproject.toml: {TABLE}.metrics_port is {worker.metrics_port}, which is"
                f" {holder}'s; expected a port of its own"
            )
