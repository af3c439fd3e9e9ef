"""The lock as far as a bill needs it: the hash of each wheel, and what each distribution needs."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, Self

_SEPARATORS: Final = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One package of the lock.

    Attributes:
        name: Normalised.
        version: As locked.
        needs: Names of what it may need, whatever the platform, normalised.
        wheels: The SHA-256 of each wheel, in hexadecimal, by its tags.
        is_ours: It is a member of this workspace.
    """

    name: str
    version: str
    needs: frozenset[str]
    wheels: Mapping[frozenset[str], str]
    is_ours: bool

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> Self:
        """Return the package of a table `[[package]]`."""
        wanted = [*table.get("dependencies", ())]
        for extra in table.get("optional-dependencies", {}).values():
            wanted.extend(extra)
        return cls(
            name=normalised(table["name"]),
            version=table.get("version", "0"),
            needs=frozenset(normalised(each["name"]) for each in wanted),
            wheels={_tags_of(wheel["url"]): wheel["hash"].removeprefix("sha256:") for wheel in table.get("wheels", ())},
            is_ours="registry" not in table["source"],
        )


def read_locks(files: Iterable[Path]) -> dict[str, tuple[LockedPackage, ...]]:
    """Return the packages of a lock that lies in several files, by name; a name may have several versions."""
    found: dict[str, tuple[LockedPackage, ...]] = {}
    for file in files:
        for table in tomllib.loads(file.read_text(encoding="utf-8")).get("package", ()):
            package = LockedPackage.parse(table)
            found[package.name] = (*found.get(package.name, ()), package)
    return found


def normalised(name: str) -> str:
    """Return a distribution's name as all its spellings have it. Source: PyPA, "Names and normalization"."""
    return _SEPARATORS.sub("-", name).lower()


def _tags_of(url: str) -> frozenset[str]:
    """Return the tags that a wheel's file name stands for. Source: PEP 425, "Compressed Tag Sets"."""
    parts = url.rsplit("/", 1)[-1].removesuffix(".whl").split("-")[-3:]
    return frozenset("-".join(tag) for tag in product(*(part.split(".") for part in parts)))
