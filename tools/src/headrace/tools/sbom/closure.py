"""The closure of an image built by Nix: every path of the store that is in it, and what refers to what."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.tools.sbom.exceptions import BillError

_VERSION: Final = re.compile(r"-(?=[0-9])")
_HASH_LENGTH: Final = 32


@dataclass(frozen=True, slots=True)
class StorePath:
    """One path of the store.

    Attributes:
        path: The path.
        nar_hash: Of its content, as Nix writes it.
        references: The paths of the closure that it refers to, itself left out.
    """

    path: Path
    nar_hash: str
    references: tuple[Path, ...]

    @property
    def name(self) -> str:
        """Its name without the version."""
        return _VERSION.split(self._label, maxsplit=1)[0]

    @property
    def version(self) -> str:
        """Its version, without an output's name; empty where it has none.

        Source: Nix manual, `builtins.parseDrvName`: a version begins after the first dash that a digit follows.
        """
        return "".join(_VERSION.split(self._label, maxsplit=1)[1:])

    @property
    def _label(self) -> str:
        return self.path.name[_HASH_LENGTH + 1 :]


def read_closure(registration: Path) -> tuple[StorePath, ...]:
    """Return the paths of a registration as nixpkgs' `closureInfo` writes it, sorted.

    Raises:
        BillError: It is of another form.
    """
    lines = iter(registration.read_text(encoding="utf-8").splitlines())
    try:
        return tuple(sorted(_paths(lines), key=lambda each: each.path))
    except (ValueError, StopIteration, RuntimeError) as error:
        raise BillError(f"{registration} is no registration of a closure: {error}") from error


def _paths(lines: Iterator[str]) -> Iterator[StorePath]:
    """Give each path: it, its hash, its size, its deriver, the number of its references, and those, a line each."""
    for line in lines:
        path, nar_hash, _size, _deriver, number = (
            Path(line),
            next(lines),
            int(next(lines)),
            next(lines),
            int(next(lines)),
        )
        references = [Path(next(lines)) for _ in range(number)]
        yield StorePath(path, nar_hash, tuple(sorted({each for each in references if each != path})))
