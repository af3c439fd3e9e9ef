"""Installed distributions, by their own metadata."""

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Final, Self

from headrace.tools.sbom.locked import normalised

LICENCE_CLASSIFIER: Final = "License :: "
MAX_LICENCE_LENGTH: Final = 80
"""A longer text is the licence itself, not its name."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution.

    Attributes:
        name: Normalised.
        version: As it says.
        summary: One line; may be empty.
        licence_expression: An SPDX expression; None where it gives none.
        licence_names: What else it says of its licence.
        tags: Of the wheel that it was installed from; empty where that is not known.
    """

    name: str
    version: str
    summary: str
    licence_expression: str | None
    licence_names: tuple[str, ...]
    tags: frozenset[str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the distribution of a `.dist-info` folder. Source: PyPA, "Core metadata specifications"."""
        metadata = Parser().parsestr((folder / "METADATA").read_text(encoding="utf-8"), headersonly=True)
        wheel = folder / "WHEEL"
        tags = Parser().parsestr(wheel.read_text(encoding="utf-8")).get_all("Tag", []) if wheel.exists() else []
        return cls(
            name=normalised(metadata["Name"]),
            version=metadata["Version"],
            summary=metadata.get("Summary", ""),
            licence_expression=metadata.get("License-Expression"),
            licence_names=tuple(_licence_names(metadata)),
            tags=frozenset(tags),
        )


def dist_infos(prefix: Path) -> tuple[Path, ...]:
    """Return the `.dist-info` folders of an installation, sorted."""
    return tuple(sorted(prefix.glob("lib/python3*/site-packages/*.dist-info")))


def _licence_names(metadata: Message) -> Iterator[str]:
    given = (metadata.get("License") or "").strip()
    if given and "\n" not in given and len(given) <= MAX_LICENCE_LENGTH:
        yield given
    for classifier in metadata.get_all("Classifier", []):
        if classifier.startswith(LICENCE_CLASSIFIER) and not given:
            yield classifier.rpartition(" :: ")[2]
