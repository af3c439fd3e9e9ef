"""The shell side of the local stack: what `make` lists, and the scripts that run before anything is installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def root(request: pytest.FixtureRequest) -> Path:
    """The working tree."""
    return request.config.rootpath


def run(*argv: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, with only the given folder and the system's own on PATH."""
    search = f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin"
    environment = {"PATH": search, "HOME": "/nonexistent", "PYENV_ROOT": "/nonexistent"}
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30, env=environment)  # noqa: S603 - fixed argv, no shell


def test_every_command_is_listed_when_make_is_asked_for_help(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    declared = re.search(r"^\.PHONY: ((?:[a-z0-9-]+ ?)+)$", makefile, re.MULTILINE)
    assert declared
    listed = re.findall(r"^  make ([a-z0-9-]+) ", run("make", "--no-print-directory", "-C", root).stdout, re.MULTILINE)
    assert sorted(listed) == sorted(declared.group(1).split())


def test_a_check_is_one_line_when_it_passes(root: Path) -> None:
    done = run(root / "scripts" / "step.sh", "name", "echo", "noise")
    assert done.returncode == 0
    assert re.fullmatch(r"ok +name +\d+ s\n", done.stdout)


def test_a_check_shows_everything_and_keeps_its_code_when_it_fails(root: Path) -> None:
    done = run(root / "scripts" / "step.sh", "name", "bash", "-c", "echo out; echo err >&2; exit 5")
    assert done.returncode == 5
    assert re.fullmatch(r"FAIL +name +\d+ s: .*\nout\nerr\n", done.stderr)


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A working tree with nothing but the scripts."""
    shutil.copytree(root / "scripts", tmp_path / "scripts")
    return tmp_path


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH that holds a uv."""
    folder = tmp_path / "programs"
    folder.mkdir()
    write_program(folder / "uv", 'echo "uv 1.0"')
    return folder


def write_program(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_the_python_that_works_is_taken_when_another_on_path_does_not(tree: Path, programs: Path) -> None:
    # What pyenv puts there for a version that is not switched on.
    write_program(programs / "python3.13", "exit 127")
    (programs / "python3.12").symlink_to(sys.executable)

    done = run(tree / "scripts" / "bootstrap.sh", path=programs)

    assert done.returncode == 0, done.stderr
    assert run(tree / ".headrace/bin/python", "-c", "print(1)").stdout == "1\n"
    assert (tree / ".headrace/bin/uv").resolve() == programs / "uv"


def test_nothing_is_said_or_changed_when_both_links_work(tree: Path, programs: Path) -> None:
    (programs / "python3.12").symlink_to(sys.executable)
    run(tree / "scripts" / "bootstrap.sh", path=programs)
    before = (tree / ".headrace/bin/uv").lstat().st_mtime_ns

    done = run(tree / "scripts" / "bootstrap.sh", path=programs)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tree / ".headrace/bin/uv").lstat().st_mtime_ns == before
