"""The document."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid5

from headrace.tools.sbom.closure import StorePath
from headrace.tools.sbom.installed import Distribution, dist_infos
from headrace.tools.sbom.locked import LockedPackage

STORE: Final = "nix:"
SPEC_VERSION: Final = "1.6"
BILLS: Final = UUID("5b0e6f0b-6a7e-5f0c-9d0a-2a7f6f4f2c11")
"""The namespace of bills' serial numbers: the same content gives the same number."""


type Locked = Mapping[str, Sequence[LockedPackage]]
"""The packages of the lock by name."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a bill is of.

    Attributes:
        name: The image's.
        version: The revision that it was built from.
        source: Where that is to be had; None where nothing is said.
    """

    name: str
    version: str
    source: str | None = None


@dataclass(slots=True)
class Parts:
    """The components so far.

    Attributes:
        components: By reference.
        needs: References of what each refers to.
        wants: Names of the distributions that each may need, as the lock has it for every platform.
    """

    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=dict)
    wants: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, component: dict[str, Any], needs: Iterable[str] = (), wants: frozenset[str] = frozenset()) -> None:
        """Add a component, or to what one needs that is there already."""
        reference = component["bom-ref"]
        self.components.setdefault(reference, component)
        self.needs.setdefault(reference, set()).update(needs)
        self.wants[reference] = wants

    def graph(self) -> dict[str, set[str]]:
        """Return the references of the components that each one needs, itself left out."""
        # A path of the store may have the name of a distribution.
        named = {self.components[each]["name"]: each for each in self.wants if not each.startswith(STORE)}
        wanted = {reference: {named[name] for name in self.wants[reference] & named.keys()} for reference in self.needs}
        return {
            reference: ((needs | wanted[reference]) & self.components.keys()) - {reference}
            for reference, needs in self.needs.items()
        }


def parts_of_environment(prefix: Path, locked: Locked) -> Parts:
    """Return what an installation is made of: its distributions."""
    parts = Parts()
    for folder in dist_infos(prefix):
        _add_distribution(parts, Distribution.read(folder), locked, ())
    return parts


def parts_of_closure(paths: Sequence[StorePath], locked: Locked) -> Parts:
    """Return what an image of Nix is made of: a distribution where a path holds one, else the path itself."""
    parts = Parts()
    references = {each.path: _reference_of(each, locked) for each in paths}
    for each in paths:
        needs = [references[path] for path in each.references if path in references]
        own = dist_infos(each.path)
        if len(own) == 1:
            properties = (("nix:storePath", str(each.path)), ("nix:narHash", each.nar_hash))
            _add_distribution(parts, Distribution.read(own[0]), locked, properties, needs)
        else:
            parts.add(_store_component(each), needs)
    return parts


def document(subject: Subject, parts: Parts) -> dict[str, Any]:
    """Return the bill. Source: CycloneDX 1.6, JSON."""
    reference = f"image:{subject.name}"
    root: dict[str, Any] = {"type": "container", "bom-ref": reference, "name": subject.name, "version": subject.version}
    if subject.source is not None:
        root["externalReferences"] = [{"type": "vcs", "url": subject.source}]
    graph = parts.graph()
    graph[reference] = parts.components.keys() - set[str]().union(*graph.values())
    bill: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {"component": root},
        "components": [parts.components[each] for each in sorted(parts.components)],
        "dependencies": [{"ref": each, "dependsOn": sorted(graph[each])} for each in sorted(graph)],
    }
    return {**bill, "serialNumber": f"urn:uuid:{uuid5(BILLS, _digest(bill))}"}


def text_of(bill: Mapping[str, Any]) -> str:
    """Return the bill as it is stored: sorted, indented, in ASCII."""
    return json.dumps(bill, indent=2, sort_keys=True) + "\n"


def _digest(bill: Mapping[str, Any]) -> str:
    return hashlib.sha256(text_of(bill).encode("ascii")).hexdigest()


def _reference_of(path: StorePath, locked: Locked) -> str:
    own = dist_infos(path.path)
    return f"{STORE}{path.path.name}" if len(own) != 1 else _reference(Distribution.read(own[0]), locked)


def _reference(distribution: Distribution, locked: Locked) -> str:
    return f"headrace:{distribution.name}" if _is_ours(distribution, locked) else _purl(distribution)


def _purl(distribution: Distribution) -> str:
    """Return the package URL. Source: package-url, type pypi."""
    return f"pkg:pypi/{distribution.name}@{distribution.version}"


def _is_ours(distribution: Distribution, locked: Locked) -> bool:
    return any(each.is_ours for each in locked.get(distribution.name, ()))


def _add_distribution(
    parts: Parts,
    distribution: Distribution,
    locked: Locked,
    properties: Iterable[tuple[str, str]],
    needs: Iterable[str] = (),
) -> None:
    package = next((each for each in locked.get(distribution.name, ()) if each.version == distribution.version), None)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _reference(distribution, locked),
        "name": distribution.name,
        "version": distribution.version,
        "licenses": _licences(distribution),
        "hashes": _hashes(distribution, package),
        "properties": [{"name": name, "value": value} for name, value in properties],
    }
    if distribution.summary:
        component["description"] = distribution.summary
    # Our own are on no index: a package URL would lead to somebody else's.
    if not _is_ours(distribution, locked):
        component["purl"] = _purl(distribution)
    wants = frozenset[str]() if package is None else package.needs
    parts.add({name: value for name, value in component.items() if value != []}, needs, wants)


def _licences(distribution: Distribution) -> list[dict[str, Any]]:
    if distribution.licence_expression is not None:
        return [{"expression": distribution.licence_expression}]
    return [{"license": {"name": name}} for name in distribution.licence_names]


def _hashes(distribution: Distribution, package: LockedPackage | None) -> list[dict[str, str]]:
    digest = None if package is None else package.wheels.get(distribution.tags)
    return [] if digest is None else [{"alg": "SHA-256", "content": digest}]


def _store_component(path: StorePath) -> dict[str, Any]:
    component = {
        "type": "library",
        "bom-ref": f"{STORE}{path.path.name}",
        "name": path.name,
        "properties": [
            {"name": "nix:storePath", "value": str(path.path)},
            {"name": "nix:narHash", "value": path.nar_hash},
        ],
    }
    if path.version:
        component |= {"version": path.version, "purl": f"pkg:generic/{path.name}@{path.version}"}
    return component
