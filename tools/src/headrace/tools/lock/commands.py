"""What the lock tool does with the two files of a working tree."""

import ipaddress
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.probing import choose_sample, configured_index, run_uv
from headrace.tools.lock.text import addresses, hydrate, strip


@dataclass(frozen=True, slots=True)
class Workspace:
    """A working tree with its two locks.

    Attributes:
        root: The working tree.
        uv: The program uv.
    """

    root: Path
    uv: str

    @property
    def host_free(self) -> Path:
        """The lock that is kept in the repository."""
        return self.root / "nix" / "uv.lock"

    @property
    def hydrated(self) -> Path:
        """The lock that uv reads; never committed."""
        return self.root / "uv.lock"


def strip_lock(tree: Workspace) -> None:
    """Writes the host-free lock from uv's."""
    _write(tree.host_free, strip(_read(tree.hydrated, remedy="make lock")))


def hydrate_lock(tree: Workspace) -> None:
    """Writes uv's lock from the host-free one, for the index that uv is set up with; asks the index one question."""
    stripped = _read(tree.host_free, remedy="make lock")
    index = configured_index(tree.uv, choose_sample(stripped), tree.root / ".headrace")
    _write(tree.hydrated, hydrate(stripped, index))


def relock(tree: Workspace) -> None:
    """Resolves again, keeping every locked version that still fits, and writes both locks."""
    if tree.host_free.exists():
        hydrate_lock(tree)
    run_uv(tree.uv, "lock", folder=tree.root)
    strip_lock(tree)


def check(tree: Workspace) -> None:
    """Fails when the locks differ, when a project file asks for something else, or when a host slipped in anywhere.

    Raises:
        LockError: Which of these it is, and what to do.
    """
    stripped = _read(tree.host_free, remedy="make lock")
    named = addresses(stripped)
    if named:
        raise LockError(f"{tree.host_free} names the address {named[0]}; run `make lock`.")
    lock = _read(tree.hydrated, remedy="make setup")
    if strip(lock) != stripped:
        raise LockError("nix/uv.lock and uv.lock differ; run `make lock`.")
    run_uv(tree.uv, "lock", "--check", "--offline", folder=tree.root)
    _check_repository(tree.root, {host for host in map(_host, addresses(lock)) if host})


def _check_repository(root: Path, hosts: set[str]) -> None:
    """Refuses any file of the repository that names a host of the index."""
    for file in _repository_files(root):
        content = file.read_bytes()
        for host in sorted(hosts):
            if host.encode() in content:
                raise LockError(f"{file.relative_to(root)} names {host}, a host of the package index; leave it out.")


def _repository_files(root: Path) -> Iterator[Path]:
    """Gives the files that git keeps or would keep; none outside a git working tree."""
    if not (root / ".git").exists():
        return
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - the developer's own git
        cwd=root,
        capture_output=True,
        check=False,
        timeout=60,
    )
    if listed.returncode:
        raise LockError(f"git cannot list the files of {root}: {listed.stderr.decode().strip()}")
    names = listed.stdout.decode().split("\0")
    yield from (root / name for name in names if name and (root / name).is_file())


def _host(address: str) -> str | None:
    """Returns the host of an address; None for this machine, whose names appear everywhere."""
    host = urlsplit(address).hostname
    if host is None or host == "localhost":
        return None
    try:
        return None if ipaddress.ip_address(host).is_loopback else host
    except ValueError:
        return host


def _read(file: Path, *, remedy: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LockError(f"{file} is missing; run `{remedy}`.") from None


def _write(file: Path, content: str) -> None:
    """Replaces a file in one step, leaving it untouched when nothing changes."""
    if file.exists() and file.read_text(encoding="utf-8") == content:
        return
    draft = file.with_name(f"{file.name}.draft")
    draft.write_text(content, encoding="utf-8")
    draft.replace(file)


COMMANDS: dict[str, Callable[[Workspace], None]] = {
    "strip": strip_lock,
    "hydrate": hydrate_lock,
    "check": check,
    "relock": relock,
}
