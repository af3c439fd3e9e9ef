import subprocess
from pathlib import Path

import pytest

from headrace.tools.lock.__main__ import main
from headrace.tools.lock.text import hydrate
from headrace.tools.lock.workspace import Workspace
from tools.tests.lock.locks import INDEX, MIRROR, STRIPPED, write_uv


@pytest.fixture
def tree(tmp_path: Path) -> Workspace:
    """A working tree whose two locks agree, for a developer of the first index."""
    root = tmp_path / "tree"
    (root / "nix").mkdir(parents=True)
    workspace = Workspace(root=root, uv=write_uv(tmp_path / "bin", hydrate(STRIPPED, INDEX)))
    workspace.host_free.write_text(STRIPPED)
    workspace.hydrated.write_text(hydrate(STRIPPED, INDEX))
    return workspace


def run(command: str, tree: Workspace) -> int:
    return main([command, "--root", str(tree.root), "--uv", tree.uv])


def test_the_developers_own_index_is_written_when_hydrated(tree: Workspace, tmp_path: Path) -> None:
    behind_mirror = Workspace(root=tree.root, uv=write_uv(tmp_path / "other", hydrate(STRIPPED, MIRROR)))
    assert run("hydrate", behind_mirror) == 0
    assert tree.hydrated.read_text() == hydrate(STRIPPED, MIRROR)


def test_nothing_of_the_question_is_left_when_hydrated(tree: Workspace) -> None:
    run("hydrate", tree)
    assert list((tree.root / ".headrace").iterdir()) == []


def test_the_host_free_lock_is_written_when_stripped(tree: Workspace) -> None:
    tree.host_free.write_text("old")
    assert run("strip", tree) == 0
    assert tree.host_free.read_text() == STRIPPED


def test_both_locks_are_new_when_locked_again(tree: Workspace, tmp_path: Path) -> None:
    newer = STRIPPED.replace('version = "2.0"', 'version = "2.1"')
    updated = Workspace(root=tree.root, uv=write_uv(tmp_path / "newer", hydrate(newer, INDEX)))
    assert run("relock", updated) == 0
    assert tree.host_free.read_text() == newer
    assert tree.hydrated.read_text() == hydrate(newer, INDEX)


def test_a_first_lock_is_made_when_there_is_none(tree: Workspace) -> None:
    tree.host_free.unlink()
    tree.hydrated.unlink()
    assert run("relock", tree) == 0
    assert tree.host_free.read_text() == STRIPPED


def test_the_last_index_is_kept_when_the_index_does_not_answer(tree: Workspace) -> None:
    tree.host_free.write_text(STRIPPED.replace('version = "2.0"', 'version = "1.9"'))
    assert run("hydrate", Workspace(root=tree.root, uv="/none/uv")) == 0
    assert 'version = "1.9"' in tree.hydrated.read_text()
    assert INDEX.registry in tree.hydrated.read_text()


def test_the_check_passes_when_the_locks_agree(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", tree) == 0
    assert capsys.readouterr() == ("", "")


def test_the_check_fails_when_the_locks_differ(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    tree.host_free.write_text(STRIPPED.replace("sha256:11", "sha256:12"))
    assert run("check", tree) == 1
    assert capsys.readouterr().err == "nix/uv.lock with the workers' lock.toml and uv.lock differ; run `make lock`.\n"


def test_the_check_fails_when_a_host_slipped_into_the_host_free_lock(
    tree: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.host_free.write_text(STRIPPED + 'note = "ftp://elsewhere.example/x"\n')
    assert run("check", tree) == 1
    assert "names the address ftp://elsewhere.example/x" in capsys.readouterr().err


def test_the_check_fails_when_a_project_asks_for_something_else(
    tree: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = Workspace(root=tree.root, uv=write_uv(tmp_path / "changed", "another resolution"))
    assert run("check", changed) == 1
    assert "The lockfile needs to be updated" in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "remedy"), [("nix/uv.lock", "make lock"), ("uv.lock", "make setup")])
def test_the_check_says_what_to_run_when_a_lock_is_missing(
    tree: Workspace, capsys: pytest.CaptureFixture[str], missing: str, remedy: str
) -> None:
    (tree.root / missing).unlink()
    assert run("check", tree) == 1
    assert capsys.readouterr().err.endswith(f"is missing; run `{remedy}`.\n")


@pytest.mark.parametrize("host", ["index.example", "files.example"])
def test_the_check_fails_when_any_file_of_the_repository_names_a_host_of_the_index(
    tree: Workspace, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    use_git(tree)
    (tree.root / "README.md").write_text(f"Packages come from {host}.\n")
    assert run("check", tree) == 1
    assert capsys.readouterr().err == f"README.md names {host}, a host of the package index; leave it out.\n"


def test_the_check_passes_when_only_ignored_files_name_a_host(tree: Workspace) -> None:
    use_git(tree)
    (tree.root / "README.md").write_text("Packages come from localhost.\n")
    assert run("check", tree) == 0


def test_one_sentence_says_so_when_uv_is_missing(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    tree.hydrated.unlink()
    assert run("hydrate", Workspace(root=tree.root, uv="/none/uv")) == 1
    assert capsys.readouterr().err.startswith("`/none/uv lock` could not run: ")


def use_git(tree: Workspace) -> None:
    argv: list[str | Path] = ["git", "init", "--quiet", tree.root]
    subprocess.run(argv, check=True)  # noqa: S603 - fixed argv, no shell
    (tree.root / ".gitignore").write_text("/uv.lock\n")
