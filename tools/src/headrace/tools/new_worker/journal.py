"""The way back of a change to a tree: written before the tree is touched, so that not even a kill leaves half of it.

Below the tree's `.headrace/new-worker/` a change keeps three things: the new texts, from where they are renamed into
place; the old files, as second links to them (no copy, so that a full disk cannot keep them from coming back); and the
journal itself, which says what belongs where. The journal is there exactly while the tree may be half changed. Taking
its steps back is safe at any point of the change, and safe twice.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict

from headrace.tools.new_worker.debris import sweep_empty
from headrace.tools.new_worker.manifest import hash_of

_FOLDER: Final = Path(".headrace", "new-worker")
_KEPT: Final = Path(".headrace", "new-worker-kept")


class JournalEntry(BaseModel):
    """One file that the change may touch.

    Attributes:
        path: From the root of the tree.
        backup: The name of the old file below the journal's folder, or None where there was none.
        before: The hash of the old file; None where there was none.
        after: The hash of what the change puts there; None where it removes the file, or where a command writes it.
        is_written_by_command: Whether a command writes the file, so that its content cannot be known ahead.
    """

    model_config = ConfigDict(frozen=True)

    path: PurePosixPath
    backup: str | None
    before: str | None
    after: str | None
    is_written_by_command: bool = False


class JournalPage(BaseModel):
    """What the journal holds.

    Attributes:
        entries: The files.
        new_folders: Folders that the change makes, the outermost first.
        old_folders: Folders that the change may empty and remove, the outermost first, with their modes.
    """

    model_config = ConfigDict(frozen=True)

    entries: tuple[JournalEntry, ...]
    new_folders: tuple[PurePosixPath, ...]
    old_folders: tuple[tuple[PurePosixPath, int], ...]


class Journal:
    """The journal of a tree; at most one change is under way in a tree at a time (`exclusive`).

    Args:
        root: The tree.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = root / _FOLDER

    @property
    def is_open(self) -> bool:
        """Whether a change is under way, or was when its process died."""
        return self._page_file.is_file()

    def start(self) -> None:
        """Make room for a change, clearing what an earlier one left that had not touched the tree yet.

        Raises:
            OSError: The folder cannot be made.
        """
        if self._folder.exists():
            shutil.rmtree(self._folder)
        for name in ("new", "old"):
            (self._folder / name).mkdir(parents=True)

    def stage(self, path: PurePosixPath, content: bytes) -> None:
        """Put a new text aside, with the mode and owner of the file that it is to replace.

        Raises:
            OSError: There is no room for it; the tree is untouched.
        """
        staged = self._staged(path)
        staged.write_bytes(content)
        former = self._root / path
        if former.exists():
            _own_alike(staged, former)
            staged.chmod(former.stat().st_mode & 0o7777)

    def keep(self, path: PurePosixPath, *, as_copy: bool) -> str | None:
        """Put the old file aside and return the name it has there, or None where there is no file.

        Args:
            path: From the root of the tree.
            as_copy: Whether the file may be written to in place, so that a second link would not keep it.

        Raises:
            OSError: It cannot be kept; the tree is untouched.
        """
        former = self._root / path
        if not former.exists():
            return None
        backup = self._folder / "old" / _flat(path)
        if as_copy or not _linked(former, backup):
            shutil.copy2(former, backup)
            _own_alike(backup, former)
        return backup.name

    def open(self, page: JournalPage) -> None:
        """Write the journal down; from here on, the tree may be changed.

        Raises:
            OSError: It cannot be written; the tree is untouched.
        """
        draft = self._folder / "journal.draft"
        with draft.open("w", encoding="utf-8") as file:
            file.write(page.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._page_file)
        _sync_folder(self._folder)

    def place(self, path: PurePosixPath) -> None:
        """Bring a staged text to its place, making the folders that it needs."""
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self._staged(path).replace(target)

    def close(self) -> None:
        """Say that the change is whole: there is no way back from here on."""
        self._page_file.unlink()
        self.clear()

    def clear(self) -> None:
        """Remove what the change put aside, and the folder of the state where nothing else is in it; safe twice."""
        shutil.rmtree(self._folder, ignore_errors=True)
        state = self._folder.parent
        if state.is_dir() and not any(state.iterdir()):
            state.rmdir()

    def roll_back(self) -> tuple[PurePosixPath, ...]:
        """Put every file back as it was before the change; does nothing where none is under way.

        A file that is neither what it was nor what the change made it has been written by somebody else since: that
        text is set aside below `.headrace/new-worker-kept/`.

        Returns:
            The files that were set aside.

        Raises:
            OSError: A file cannot be put back; the journal stays, and rolling back again goes on from there.
        """
        if not self.is_open:
            self.clear()
            return ()
        page = JournalPage.model_validate_json(self._page_file.read_bytes())
        for path, mode in page.old_folders:
            folder = self._root / path
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(mode)
        kept = tuple(entry.path for entry in reversed(page.entries) if self._restore(entry))
        for path in reversed(page.new_folders):
            sweep_empty(self._root / path)
        self.close()
        return kept

    def _restore(self, entry: JournalEntry) -> bool:
        """Put one file back; return whether somebody else's text was set aside for it."""
        target = self._root / entry.path
        is_kept = self._is_foreign(target, entry)
        if is_kept:
            _set_aside(target, self._root / _KEPT / entry.path)
        if entry.backup is None:
            target.unlink(missing_ok=True)
        elif (backup := self._folder / "old" / entry.backup).exists():
            backup.replace(target)
        return is_kept

    @staticmethod
    def _is_foreign(target: Path, entry: JournalEntry) -> bool:
        if entry.is_written_by_command or not target.is_file():
            return False
        return hash_of(target.read_bytes()) not in {entry.before, entry.after}

    @property
    def _page_file(self) -> Path:
        return self._folder / "journal.json"

    def _staged(self, path: PurePosixPath) -> Path:
        return self._folder / "new" / _flat(path)


def missing_folders(root: Path, paths: Iterable[PurePosixPath]) -> tuple[PurePosixPath, ...]:
    """Return the folders that must be made for the files, the outermost first."""
    missing = {folder for path in paths for folder in path.parents if not (root / folder).exists()}
    return tuple(sorted(missing, key=lambda folder: (len(folder.parts), folder)))


def _flat(path: PurePosixPath) -> str:
    """Return a path as one file name; no two paths give the same."""
    return str(path).replace("%", "%25").replace("/", "%2F")


def _linked(former: Path, backup: Path) -> bool:
    """Make a second link to a file; return whether the file system can."""
    try:
        backup.hardlink_to(former)
    except OSError:
        return False
    return True


def _own_alike(file: Path, model: Path) -> None:
    """Give a file the owner of another, where this account may."""
    state = model.stat()
    with suppress(PermissionError):
        os.chown(file, state.st_uid, state.st_gid)


def _set_aside(target: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    target.replace(kept)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
