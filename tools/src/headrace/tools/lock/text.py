"""Between uv's lock and the host-free one, as texts; nothing here touches files or the network."""

import re
from dataclasses import dataclass

from headrace.tools.lock.exceptions import LockError

REGISTRY_NAME = "pypi"
FILES_MARK = "/packages/"
_REGISTRY = re.compile(r'(?<=\bregistry = ")[^"]*(?=")')
_FILE = re.compile(r'(?<=\burl = ")[^"]*(?=")')
_ADDRESS = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*://[^"\s]*')


@dataclass(frozen=True, slots=True)
class Index:
    """A package index as uv writes it into a lock.

    Attributes:
        registry: The index itself.
        files: What comes before the stripped part of a file's URL; ends in a slash.
    """

    registry: str
    files: str


def strip(lock: str) -> str:
    """Returns a lock without its index.

    Args:
        lock: What uv wrote. One that is stripped already comes back unchanged.

    Raises:
        LockError: A file's URL has no `/packages/` in it, or an address of another sort is left (a source from git,
            say); such a lock cannot be free of hosts.
    """
    stripped = _FILE.sub(lambda found: _strip_file(found.group()), _REGISTRY.sub(REGISTRY_NAME, lock))
    left = addresses(stripped)
    if left:
        raise LockError(f"The lock still names {left[0]}; only packages from an index can be locked without a host.")
    return stripped


def hydrate(stripped: str, index: Index) -> str:
    """Returns the lock for an index; the reverse of `strip`."""
    with_registry = _REGISTRY.sub(lambda _: index.registry, stripped)
    return _FILE.sub(lambda found: index.files + found.group(), with_registry)


def addresses(text: str) -> list[str]:
    """Returns every address with a scheme in the text, in order."""
    return _ADDRESS.findall(text)


def index_of(probe: str, path: str) -> Index:
    """Reads off a fresh lock which index uv used and where that keeps its files.

    Args:
        probe: A lock of a project that holds the file.
        path: The file, as the host-free lock gives it.

    Raises:
        LockError: The lock has no such file: this index names its files in another way than the host-free lock.
    """
    registry = _REGISTRY.search(probe)
    file = next((found.group() for found in _FILE.finditer(probe) if found.group().endswith(FILES_MARK + path)), None)
    if registry is None or file is None:
        raise LockError(
            "The package index that uv is set up with keeps its files under other paths than the lock has; "
            "run `uv sync --all-extras` instead, which resolves on its own."
        )
    return Index(registry=registry.group(), files=file.removesuffix(path))


def _strip_file(url: str) -> str:
    if "://" not in url:
        return url
    _, mark, path = url.rpartition(FILES_MARK)
    if not mark:
        raise LockError(f"The lock names {url}, which has no {FILES_MARK} in it, so it cannot be given without a host.")
    return path
