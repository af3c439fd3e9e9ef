"""Finds out which index the developer's uv uses, by having it lock a project of one small package."""

import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.text import Index, index_of

UV_TIMEOUT_SECONDS = 600
PROJECT = """\
[project]
name = "headrace-index-probe"
version = "0"
requires-python = ">={python}"
dependencies = ["{name}=={version}"]
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A package of the lock to ask the index about.

    Attributes:
        name: The distribution.
        version: The locked version.
        path: One of its files, as the host-free lock gives it.
    """

    name: str
    version: str
    path: str


def choose_sample(stripped: str) -> Sample:
    """Returns the package that is cheapest to ask about: without dependencies, with the fewest files.

    Args:
        stripped: The host-free lock.

    Raises:
        LockError: Every package of the lock has dependencies or no wheel.
    """
    packages: list[dict[str, Any]] = tomllib.loads(stripped)["package"]
    leaves = [each for each in packages if "registry" in each["source"] and not each.get("dependencies")]
    leaves = [each for each in leaves if each.get("wheels")]
    if not leaves:
        raise LockError("The lock has no package without dependencies to ask the index about.")
    leaf = min(leaves, key=lambda each: (len(each["wheels"]), each["name"]))
    return Sample(name=leaf["name"], version=leaf["version"], path=leaf["wheels"][0]["url"])


def configured_index(uv: str, sample: Sample, state: Path) -> Index:
    """Returns the index that uv uses in this working tree, whichever of its settings says so.

    Args:
        uv: The program.
        sample: What to ask about.
        state: A folder inside the working tree, so that uv finds the settings there too.

    Raises:
        LockError: uv could not reach its index, or the index does not fit the lock.
    """
    state.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state, prefix="index-probe-") as folder:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        project = PROJECT.format(name=sample.name, version=sample.version, python=python)
        Path(folder, "pyproject.toml").write_text(project, encoding="utf-8")
        run_uv(uv, "lock", folder=Path(folder))
        return index_of(Path(folder, "uv.lock").read_text(encoding="utf-8"), sample.path)


def run_uv(uv: str, *arguments: str, folder: Path) -> None:
    """Runs uv quietly in a folder, with the interpreter that runs this.

    Raises:
        LockError: uv is missing, failed, or took longer than ten minutes; the message ends with what it said.
    """
    argv = [uv, *arguments, "--python", sys.executable, "--no-python-downloads", "--quiet"]
    try:
        done = subprocess.run(  # noqa: S603 - uv with fixed arguments
            argv, cwd=folder, capture_output=True, text=True, check=False, timeout=UV_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LockError(f"`{uv} {arguments[0]}` could not run: {error}.") from error
    if done.returncode:
        raise LockError(f"`uv {' '.join(arguments)}` failed: {' '.join(done.stderr.split())}")
