from pathlib import Path

import pytest

from headrace.tools.lock.__main__ import main
from headrace.tools.lock.parts import split
from headrace.tools.lock.text import hydrate
from headrace.tools.lock.workspace import Workspace, read_host_free, write_host_free
from tools.tests.lock.locks import INDEX, MIRROR, PROJECTS, WORKSPACE, write_uv

WITHOUT_MAIL = WORKSPACE[: WORKSPACE.index('\n[[package]]\nname = "mail-sorter"')].replace('    "mail-sorter",\n', "")
LARGER = f"""{WORKSPACE}
[[package]]
name = "new-leaf"
version = "1.0"
source = {{ registry = "pypi" }}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Workspace:
    """A workspace of two workers, locked in parts for a developer of the first index."""
    workspace = Workspace(root=tmp_path / "tree", uv=write_uv(tmp_path / "bin", hydrate(WORKSPACE, INDEX)))
    (workspace.root / "nix").mkdir(parents=True)
    for folder, project in PROJECTS.items():
        (workspace.root / folder).mkdir(parents=True)
        (workspace.root / folder / "pyproject.toml").write_text(project)
    write_host_free(workspace, WORKSPACE)
    workspace.hydrated.write_text(hydrate(WORKSPACE, INDEX))
    return workspace


def run(command: str, tree: Workspace) -> int:
    return main([command, "--root", str(tree.root), "--uv", tree.uv])


def calls(tree: Workspace) -> list[str]:
    """What uv was asked to do, in order."""
    return Path(tree.uv).with_name("calls").read_text().splitlines()


def add_mail_anew(tree: Workspace) -> None:
    """Brings the tree to where the worker mail has just been added by hand."""
    tree.part("mail").unlink()
    tree.hydrated.write_text(hydrate(WITHOUT_MAIL, INDEX))


def test_the_parts_make_uvs_lock_when_hydrated(tree: Workspace) -> None:
    tree.hydrated.unlink()
    assert run("hydrate", tree) == 0
    assert tree.hydrated.read_text() == hydrate(WORKSPACE, INDEX)


def test_no_index_is_asked_when_nothing_is_new(tree: Workspace) -> None:
    assert run("relock", tree) == 0
    assert calls(tree) == ["lock --check"]


def test_no_index_is_asked_when_a_new_worker_asks_for_nothing_new(tree: Workspace) -> None:
    add_mail_anew(tree)
    shared = tree.host_free.read_text()
    assert run("relock", tree) == 0
    assert calls(tree) == ["lock --check"]
    assert (read_host_free(tree), tree.host_free.read_text()) == (WORKSPACE, shared)


def test_uv_resolves_from_its_cache_when_only_uv_can_tell(tree: Workspace) -> None:
    (tree.root / "workers/mail/pyproject.toml").write_text('[project]\nname = "mail-sorter"\ndynamic = ["version"]\n')
    add_mail_anew(tree)
    assert run("relock", tree) == 0
    assert calls(tree) == ["lock --offline"]
    assert read_host_free(tree) == WORKSPACE


def test_the_index_is_asked_when_the_cache_would_add_a_version(tree: Workspace, tmp_path: Path) -> None:
    larger = Workspace(root=tree.root, uv=write_uv(tmp_path / "larger", hydrate(LARGER, INDEX)))
    assert run("relock", larger) == 0
    assert calls(larger) == ["lock --check", "lock --offline", "lock --python", "lock --python"]
    assert read_host_free(tree) == LARGER


def test_the_index_of_today_is_written_when_the_last_one_is_refused(tree: Workspace, tmp_path: Path) -> None:
    moved = Workspace(root=tree.root, uv=write_uv(tmp_path / "moved", hydrate(WORKSPACE, MIRROR)))
    assert run("relock", moved) == 0
    assert tree.hydrated.read_text() == hydrate(WORKSPACE, MIRROR)


def test_the_part_goes_when_its_worker_is_gone(tree: Workspace, tmp_path: Path) -> None:
    (tree.root / "workers/mail/pyproject.toml").unlink()
    fewer = Workspace(root=tree.root, uv=write_uv(tmp_path / "fewer", hydrate(WITHOUT_MAIL, INDEX)))
    assert run("relock", fewer) == 0
    assert not tree.part("mail").exists()
    assert read_host_free(tree) == WITHOUT_MAIL


def test_a_lock_in_one_piece_is_taken_apart_when_locked_again(tree: Workspace) -> None:
    tree.host_free.write_text(WORKSPACE)
    tree.part("mail").unlink()
    assert run("relock", tree) == 0
    assert tree.host_free.read_text() == split(WORKSPACE).shared


def test_uvs_lock_is_the_newest_when_locked_again(tree: Workspace) -> None:
    add_mail_anew(tree)
    run("relock", tree)
    assert tree.hydrated.stat().st_mtime_ns >= tree.part("mail").stat().st_mtime_ns


@pytest.mark.parametrize("command", ["check", "hydrate"])
def test_one_sentence_says_so_when_a_worker_is_not_locked(
    tree: Workspace, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    tree.part("mail").unlink()
    assert run(command, tree) == 1
    expected = "The worker workers/mail is not locked: its lock.toml is missing; run `make lock`.\n"
    assert capsys.readouterr().err == expected


def test_one_sentence_says_so_when_a_locked_worker_is_gone(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    (tree.root / "workers/mail/pyproject.toml").unlink()
    assert run("check", tree) == 1
    assert capsys.readouterr().err.startswith("workers/mail/lock.toml is about a worker that is gone: ")


def test_one_sentence_says_so_when_the_shared_part_is_about_a_worker(
    tree: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.host_free.write_text(WORKSPACE)
    assert run("check", tree) == 1
    assert capsys.readouterr().err.startswith("nix/uv.lock is about workers/bird-feeder, which has its own lock.toml")


def test_the_check_fails_when_a_part_names_a_host(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    part = tree.part("mail")
    part.write_text(part.read_text() + 'note = "https://elsewhere.example/x"\n')
    assert run("check", tree) == 1
    assert "workers/mail/lock.toml names the address https://elsewhere.example/x; run" in capsys.readouterr().err


def test_the_check_fails_when_a_part_differs(tree: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    part = tree.part("mail")
    part.write_text(part.read_text().replace("0.2.0", "0.3.0"))
    assert run("check", tree) == 1
    assert "and uv.lock differ; run `make lock`." in capsys.readouterr().err


def test_one_sentence_says_so_when_a_project_cannot_be_read(
    tree: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add_mail_anew(tree)
    (tree.root / "workers/mail/pyproject.toml").write_text("[project\n")
    assert run("relock", tree) == 1
    assert "workers/mail/pyproject.toml cannot be read: " in capsys.readouterr().err
