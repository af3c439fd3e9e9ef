"""What the lock tool does with the locks of a working tree."""

import ipaddress
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.probing import run_uv
from headrace.tools.lock.relocking import hydrate_for, resolve
from headrace.tools.lock.text import addresses, strip
from headrace.tools.lock.workspace import Workspace, read, read_host_free, write_host_free


def strip_lock(tree: Workspace) -> None:
    """Writes the host-free lock, in parts, from uv's."""
    write_host_free(tree, strip(read(tree.hydrated, remedy="make lock")))


def hydrate_lock(tree: Workspace) -> None:
    """Writes uv's lock from the host-free one, for the index that uv is set up with; asks the index one question."""
    hydrate_for(tree, read_host_free(tree))


def relock(tree: Workspace) -> None:
    """Resolves again, keeping every locked version that still fits, and writes both locks.

    The index is asked only when something is needed that is not locked yet.
    """
    resolve(tree)
    strip_lock(tree)
    # It was written first, but is not older than what it was taken apart into: `make` compares the times.
    tree.hydrated.touch()


def check(tree: Workspace) -> None:
    """Fails when the locks differ, when a project file asks for something else, or when a host slipped in anywhere.

    Raises:
        LockError: Which of these it is, and what to do.
    """
    stripped = read_host_free(tree)
    _check_addresses(tree)
    lock = read(tree.hydrated, remedy="make setup")
    if strip(lock) != stripped:
        raise LockError("nix/uv.lock with the workers' lock.toml and uv.lock differ; run `make lock`.")
    run_uv(tree.uv, "lock", "--check", "--offline", folder=tree.root)
    _check_repository(tree.root, {host for host in map(_host, addresses(lock)) if host})


def _check_addresses(tree: Workspace) -> None:
    """Refuses a part of the host-free lock that names an address."""
    for file in [tree.host_free, *map(tree.part, tree.parted())]:
        named = addresses(read(file, remedy="make lock"))
        if named:
            raise LockError(f"{file} names the address {named[0]}; run `make lock`.")


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


COMMANDS: dict[str, Callable[[Workspace], None]] = {
    "strip": strip_lock,
    "hydrate": hydrate_lock,
    "check": check,
    "relock": relock,
}
