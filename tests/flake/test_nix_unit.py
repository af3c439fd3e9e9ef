"""The checks that an evaluator alone can make find what is planted."""

from pathlib import Path

import pytest

from tests.flake.tree import TreeCopy, copy_repository

pytestmark = pytest.mark.nix


def test_nothing_is_said_when_there_is_no_fault(tree: TreeCopy) -> None:
    done = tree.run("scripts/nix-unit.sh")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_function_is_named_when_it_is_misspelt(tree: TreeCopy) -> None:
    tree.replace("nix/lock.nix", "package = map package", "package = mpa package")
    done = tree.run("scripts/nix-unit.sh")
    assert done.returncode != 0
    assert "undefined variable 'mpa'" in done.stdout


def test_the_file_is_named_when_it_does_not_parse(tree: TreeCopy) -> None:
    tree.replace("nix/shell.nix", "UV_PYTHON_DOWNLOADS =", "UV_PYTHON_DOWNLOADS")
    done = tree.run("scripts/nix-unit.sh")
    assert done.returncode != 0
    assert "nix/shell.nix" in done.stdout


def test_the_test_is_named_when_a_function_is_wrong(tree: TreeCopy) -> None:
    tree.replace("nix/lock.nix", "sort (a: b: a < b)", "sort (a: b: b < a)")
    done = tree.run("scripts/nix-unit.sh")
    assert done.returncode != 0
    assert "lock_test.nix: testEveryMemberIsListedWhenJoined: expected" in done.stdout


def test_the_line_is_shown_when_the_lock_names_a_host(tree: TreeCopy) -> None:
    lock = tree.root / "nix" / "uv.lock"
    lock.write_text(lock.read_text().replace('url = "', 'url = "https://files.example/packages/', 1))
    done = tree.run("scripts/nix-unit.sh")
    assert done.returncode != 0
    assert "nix/uv.lock names an address in" in done.stdout
    assert "files.example" in done.stdout


def test_the_worker_is_named_when_it_is_not_locked(tree: TreeCopy) -> None:
    (tree.root / "workers" / "maintenance" / "lock.toml").unlink()
    done = tree.run("scripts/nix-unit.sh")
    assert done.returncode != 0
    assert "The worker workers/maintenance is not locked" in done.stdout


@pytest.mark.parametrize(
    ("status", "said"), [(0, ""), (1, "this Nix evaluates no flake in a folder whose path has a space")]
)
def test_the_folder_is_named_when_nix_cannot_take_its_space(tmp_path: Path, status: int, said: str) -> None:
    tree = copy_repository(tmp_path / "a tree")
    nix = tmp_path / "bin" / "nix"
    nix.parent.mkdir()
    nix.write_text(f"#!/bin/sh\nexit {status}\n")
    nix.chmod(0o755)
    done = tree.run("env", f"PATH={nix.parent}:/usr/bin:/bin", "scripts/nix.sh", "--takes-folder")
    assert done.returncode == status
    assert said in done.stdout
    assert (str(tree.root) in done.stdout) == bool(status)
