"""Installing peers into folders that are thrown away: Python ones by uv, Node ones by npm, each from its registry.

Which registry that is, is for the machine's settings to say.
"""

import asyncio
import json
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import headrace.tools.bench.peers
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.peers.systems import Peer, PeerKind
from headrace.tools.dev.state import workspace_root

INSTALL_SECONDS: Final = 300
TAIL_LINES: Final = 2
NODE_WANTED: Final = 22
"""pg-boss and graphile-worker ask for this major version in their latest releases."""

PROGRAMS_PACKAGE: Final = headrace.tools.bench.peers.__name__
PROGRAMS: Final = Path(headrace.tools.bench.peers.__file__).parent
SOURCES: Final = PROGRAMS.parents[3]
"""What must be on a peer's path so that it finds its program."""


async def installed(kind: PeerKind, folder: Path) -> Peer:
    """Install a peer below a folder.

    Raises:
        BenchError: It cannot be had; the sentence says why.
    """
    own = folder / kind.name
    own.mkdir(parents=True)
    return await (_node_peer(kind, own) if kind.is_node else _python_peer(kind, own))


async def _python_peer(kind: PeerKind, folder: Path) -> Peer:
    uv = _uv()
    python = str(folder / "venv" / "bin" / "python")
    await _run((uv, "venv", "--quiet", "--python", _base_python(), str(folder / "venv")))
    await _run((uv, "pip", "install", "--quiet", "--python", python, *kind.packages))
    listed = json.loads(await _run((uv, "pip", "list", "--format", "json", "--python", python)))
    return Peer(
        kind,
        (python, "-m", f"{PROGRAMS_PACKAGE}.{kind.program}"),
        {"PYTHONPATH": str(SOURCES)},
        {each["name"]: each["version"] for each in listed},
    )


async def _node_peer(kind: PeerKind, folder: Path) -> Peer:
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise BenchError(f"{tool} is not on this machine")
    path = await _node_path(folder)
    await _npm(folder, path, kind.packages)
    for program in PROGRAMS.glob("*.mjs"):
        shutil.copy(program, folder)
    node = shutil.which("node", path=path["PATH"]) or "node"
    versions = {name: _version(folder, name) for name in kind.packages}
    versions["node"] = (await _run((node, "--version"))).strip()
    return Peer(kind, (node, str(folder / kind.program)), path, versions)


async def _node_path(folder: Path) -> dict[str, str]:
    """Return the PATH on which a recent Node is found: the machine's, or one that npm brings into the folder."""
    machines = {"PATH": _environment_path()}
    major = int((await _run(("node", "--version"))).strip().lstrip("v").partition(".")[0])
    if major >= NODE_WANTED:
        return machines
    try:
        await _npm(folder, machines, (f"node@{NODE_WANTED}",))
    except BenchError:  # the machine's own takes older releases of the peers
        return machines
    return {"PATH": f"{folder / 'node_modules' / 'node' / 'bin'}:{machines['PATH']}"}


async def _npm(folder: Path, path: Mapping[str, str], packages: Sequence[str]) -> None:
    argv = ("npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel", "error", *packages)
    await _run(argv, path)


def _version(folder: Path, package: str) -> str:
    told = json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    return str(told["version"])


def _uv() -> str:
    kept = workspace_root() / ".headrace" / "bin" / "uv"
    found = str(kept) if kept.exists() else shutil.which("uv")
    if found is None:
        raise BenchError("uv is not on this machine; make setup brings it")
    return found


def _base_python() -> str:
    """Return the interpreter under the environment that this one runs in, so that none is downloaded."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def _environment_path() -> str:
    return os.environ.get("PATH", os.defpath)


async def _run(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    merged = os.environ | (environment or {})
    process = await asyncio.create_subprocess_exec(*argv, env=merged, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    try:
        told, complaints = await asyncio.wait_for(process.communicate(), INSTALL_SECONDS)
    except TimeoutError:
        process.kill()
        raise BenchError(f"{argv[0]} took more than {INSTALL_SECONDS} s") from None
    if process.returncode:
        ends = complaints.decode(errors="replace").strip().splitlines()[-TAIL_LINES:]
        raise BenchError(f"{Path(argv[0]).name} failed: {' | '.join(ends)}")
    return told.decode(errors="replace")
