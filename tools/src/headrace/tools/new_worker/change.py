"""Carries a plan out: all of it, or nothing."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from headrace.tools.new_worker.debris import sweep_empty
from headrace.tools.new_worker.exceptions import ConflictError
from headrace.tools.new_worker.journal import Journal, JournalEntry, JournalPage, missing_folders
from headrace.tools.new_worker.manifest import hash_of
from headrace.tools.new_worker.plan import FileState, Plan, PlannedFile
from headrace.tools.new_worker.signals import held_signals


@dataclass(frozen=True, slots=True)
class Change:
    """A plan on its way into a tree.

    Attributes:
        root: The tree.
        plan: What becomes of which file.
        by_command: Files that a command may write before the change is whole; put back like the others.
    """

    root: Path
    plan: Plan
    by_command: tuple[PurePosixPath, ...] = ()

    @contextmanager
    def applied(self, on_written: Callable[[PlannedFile], None]) -> Iterator[None]:
        """Write the files, then run the body, and keep the change only when that ends well.

        Whatever ends it early, an error or a signal, puts every file back as it was and goes on to the caller. When the
        process is killed, the next run puts them back (`recover`).

        Args:
            on_written: Told of each file once it is in place; may raise, which ends the change.

        Raises:
            ConflictError: A file is no longer what the plan has seen; the tree is as before.
            OSError: A file could not be written; the tree is as before.
        """
        journal = Journal(self.root)
        try:
            self._prepare(journal)
            for file in self.plan.changes:
                self._write(journal, file)
                on_written(file)
            self._drop_emptied_folders()
            yield
        except BaseException:
            with held_signals():
                journal.roll_back()
            raise
        with held_signals():
            journal.close()

    def _prepare(self, journal: Journal) -> None:
        """Take everything that needs room on the disk before the tree is touched."""
        journal.start()
        for file in self.plan.changes:
            if file.after is not None:
                journal.stage(file.path, file.after)
        entries = [self._entry(journal, file) for file in self.plan.changes]
        planned = {file.path for file in self.plan.changes}
        entries += [self._command_entry(journal, path) for path in self.by_command if path not in planned]
        journal.open(
            JournalPage(
                entries=tuple(entries),
                new_folders=missing_folders(self.root, (entry.path for entry in entries)),
                old_folders=tuple(self._modes(self._left_folders())),
            )
        )

    def _entry(self, journal: Journal, file: PlannedFile) -> JournalEntry:
        return JournalEntry(
            path=file.path,
            backup=journal.keep(file.path, as_copy=False),
            before=None if file.before is None else hash_of(file.before),
            after=None if file.after is None else hash_of(file.after),
        )

    @staticmethod
    def _command_entry(journal: Journal, path: PurePosixPath) -> JournalEntry:
        backup = journal.keep(path, as_copy=True)
        return JournalEntry(path=path, backup=backup, before=None, after=None, is_written_by_command=True)

    def _write(self, journal: Journal, file: PlannedFile) -> None:
        if _content(self.root / file.path) != file.before:
            raise ConflictError(f"{file.path} was changed while the plan was made: run this again.")
        if file.after is None:
            (self.root / file.path).unlink()
        else:
            journal.place(file.path)

    def _left_folders(self) -> list[PurePosixPath]:
        """Return the folders that the change takes a file out of, and all above them, the outermost first."""
        removed = (file.path for file in self.plan.changes if file.state is FileState.REMOVE)
        folders = {folder for path in removed for folder in path.parents if folder.parts}
        return sorted(folders, key=lambda folder: (len(folder.parts), folder))

    def _modes(self, folders: Iterable[PurePosixPath]) -> Iterator[tuple[PurePosixPath, int]]:
        yield from ((folder, (self.root / folder).stat().st_mode & 0o7777) for folder in folders)

    def _drop_emptied_folders(self) -> None:
        for folder in reversed(self._left_folders()):
            sweep_empty(self.root / folder)


def recover(root: Path) -> bool:
    """Take back what an earlier run left half done, if any did; return whether one had."""
    journal = Journal(root)
    was_open = journal.is_open
    with held_signals():
        journal.roll_back()
    return was_open


def refuse_unfinished(root: Path) -> None:
    """Refuse to read a tree that an earlier run left half changed.

    Raises:
        ConflictError: It did; nothing is mended.
    """
    if Journal(root).is_open:
        raise ConflictError(
            "An earlier run was cut off: run this without --dry-run, which takes back what it had done."
        )


@contextmanager
def exclusive(root: Path) -> Iterator[int]:
    """Keep every other change out of the tree; the system lets go of it when the process ends, however it ends.

    Yields:
        The descriptor that holds the lock. A command that writes into the tree gets it too, so that the tree stays
        locked while that command goes on, should this process be killed.

    Raises:
        ConflictError: Another change is under way.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError("Another run is changing this tree: wait for it to end.") from None
        yield descriptor
    finally:
        os.close(descriptor)


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
