"""Terraform's configuration as data, read without Terraform."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import hcl2

_BLOCK_MARK: Final = "__is_block__"
# What the parser adds of its own, comments among it.
_MARKS: Final = "__"

type Body = Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """One block of a file.

    Attributes:
        file: Where it stands.
        labels: Its labels: type and name of a resource, name of a module or variable.
        body: Its arguments and nested blocks; a nested block is a list of bodies.
    """

    file: Path
    labels: tuple[str, ...]
    body: Body


def blocks(folder: Path, kind: str) -> Iterator[Block]:
    """Yield every block of a kind in the files of one module: `resource`, `module`, `variable`, `output`."""
    for file in sorted(folder.glob("*.tf")):
        for found in _parsed(file.read_text(encoding="utf-8")).get(kind, ()):
            yield from _labelled(file, found, num_labels=2 if kind == "resource" else 1)


def nested(body: Body) -> Iterator[tuple[str, Body]]:
    """Yield each nested block by its name; of a dynamic one its content."""
    for name, value in body.items():
        for each in value if isinstance(value, list) else ():
            if not isinstance(each, Mapping):
                continue
            if name == "dynamic":
                yield from (
                    (label.strip('"'), inner["content"][0])
                    for label, inner in each.items()
                    if not label.startswith(_MARKS)
                )
            elif _BLOCK_MARK in each:
                yield name, each


def arguments(body: Body) -> dict[str, Any]:
    """Return what is set in a body itself, without its nested blocks."""
    names = {name for name, _ in nested(body)} | {"dynamic"}
    return {name: value for name, value in body.items() if name not in names and not name.startswith(_MARKS)}


@cache
def _parsed(text: str) -> dict[str, Any]:
    document: dict[str, Any] = hcl2.loads(text)
    return document


def _labelled(file: Path, found: Body, num_labels: int, labels: tuple[str, ...] = ()) -> Iterator[Block]:
    if not num_labels:
        yield Block(file, labels, found)
        return
    for label, inner in found.items():
        if not label.startswith(_MARKS):
            yield from _labelled(file, inner, num_labels - 1, (*labels, label.strip('"')))
