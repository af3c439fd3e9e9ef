"""Copies of this very repository, to generate into."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.tools.new_worker.debris import is_debris

ROOT = Path(__file__).parents[3]

# Compared, never run: `test_rendering_golden.py`.
collect_ignore = ["golden"]

# Neither history, nor what is installed, nor what no worker touches; and no lock, so that nothing is resolved.
LEFT_OUT = frozenset({".git", ".venv", ".headrace", "examples", "docs", "tools", "uv.lock", "lock.toml"})


def _left_out(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name in LEFT_OUT or is_debris(name)}


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as it is now, uncommitted changes among them, for tests that leave it as it is."""
    copy = tmp_path_factory.mktemp("repository") / "tree"
    shutil.copytree(ROOT, copy, ignore=_left_out, symlinks=True)
    return copy


@pytest.fixture(scope="session")
def locked(pristine: Path) -> Path:
    """Another one, with the lock."""
    copy = Path(shutil.copytree(pristine, pristine.with_name("locked"), symlinks=True))
    shutil.copy(ROOT / "nix/uv.lock", copy / "nix/uv.lock")
    return copy


@pytest.fixture
def repository(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the repository as it is now, for one test alone."""
    return Path(shutil.copytree(pristine, tmp_path / "tree", symlinks=True))


@pytest.fixture
def git_repository(repository: Path) -> Path:
    """The same, as the first commit of a history of its own."""
    git(repository, "init", "--quiet", "--initial-branch", "main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "Begin")
    return repository


def git(root: Path, *arguments: str) -> str:
    """Run git as somebody, whatever the machine's settings are; return what it said."""
    settings = (
        "user.name=Tester",
        "user.email=tester@localhost",
        "commit.gpgsign=false",
        f"core.hooksPath={os.devnull}",
    )
    argv = ["git", *(part for each in settings for part in ("-c", each)), *arguments]
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - fixed
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout
