"""Signals of a process to its outside: heartbeat and readiness, as ports, as files and in memory.

A heartbeat says "the loop moves", readiness says "work may be expected of me". Neither is derived from the other.
The file probe reads two small files and asks no server, so it can say nothing false about a dependency.
"""

import os
from abc import ABC, abstractmethod
from datetime import timedelta
from pathlib import Path
from typing import override

from headrace.infra.background.timing import ClockInterface, SystemClockImpl
from headrace.infra.exceptions import ConfigurationInvalid

_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
# A heartbeat is a boot id and a number; whatever is longer was not written here.
_MAX_BEAT_BYTES = 200


class HeartbeatInterface(ABC):
    """Where a task says that it has moved. What carries the beat is no concern of the task."""

    @abstractmethod
    def beat(self) -> None:
        """Records a beat at this moment; a later beat replaces it.

        Raises:
            ConfigurationInvalid: The beat cannot be recorded; the last one stays and grows old.
        """
        ...

    @abstractmethod
    def clear(self) -> None:
        """Takes the last beat back, so that it cannot pass for one of the next process. Safe twice."""
        ...


class ReadinessInterface(ABC):
    """Where the owner of the decision says whether the process is ready. Safe to say twice."""

    @abstractmethod
    def mark_ready(self) -> None:
        """From now on the process is ready.

        Raises:
            ConfigurationInvalid: It cannot be said; the process stays not ready to its outside.
        """
        ...

    @abstractmethod
    def mark_unready(self, reason: str) -> None:
        """From now on the process is not ready.

        Args:
            reason: A clause for the person who asks why, such as "the process is stopping".
        """
        ...


class FileHeartbeat(HeartbeatInterface):
    """Beats into a file that a probe of the same host and boot can read at any time, never half written.

    Args:
        path: The file; its folder must exist and be writable.
        clock: Must be the clock the probe uses.
        boot_id: Tells this boot of the host from an earlier one; the host's own when not given.
    """

    def __init__(self, path: Path, *, clock: ClockInterface | None = None, boot_id: str | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClockImpl()
        self._boot_id = boot_id or read_boot_id()

    @override
    def beat(self) -> None:
        _write_whole(self._path, f"{self._boot_id} {self._clock.monotonic():.6f}\n")

    @override
    def clear(self) -> None:
        self._path.unlink(missing_ok=True)


class FileReadiness(ReadinessInterface):
    """A marker file that is there exactly while the process is ready. A killed process leaves it behind.

    That is why the probe asks for a fresh heartbeat too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @override
    def mark_ready(self) -> None:
        _write_whole(self._path, "ready\n")

    @override
    def mark_unready(self, reason: str) -> None:
        self._path.unlink(missing_ok=True)


class ReadinessState(ReadinessInterface):
    """Readiness held in memory, for a process that answers probes over HTTP itself."""

    def __init__(self) -> None:
        self._reason: str | None = "the process has not started"

    @override
    def mark_ready(self) -> None:
        self._reason = None

    @override
    def mark_unready(self, reason: str) -> None:
        self._reason = reason

    def problems(self) -> tuple[str, ...]:
        """Why the process is not ready; empty when it is. Does no I/O."""
        return () if self._reason is None else (self._reason,)


class FileHealthcheck:
    """Reads the two files for a probe. Never raises: what cannot be read is a problem, named.

    Args:
        heartbeat_path: The file of the process's `FileHeartbeat`.
        readiness_path: The file of its `FileReadiness`.
        max_age: A beat older than this is stale; more than the beat's interval.
        clock: Must be the clock the heartbeat uses.
        boot_id: Tells this boot of the host from an earlier one; the host's own when not given.
    """

    def __init__(
        self,
        *,
        heartbeat_path: Path,
        readiness_path: Path,
        max_age: timedelta,
        clock: ClockInterface | None = None,
        boot_id: str | None = None,
    ) -> None:
        self._heartbeat_path = heartbeat_path
        self._readiness_path = readiness_path
        self._max_age = max_age
        self._clock = clock or SystemClockImpl()
        self._boot_id = boot_id or read_boot_id()

    def liveness_problems(self) -> tuple[str, ...]:
        """Why the heartbeat is not fresh; empty when it is. A beat from the future is not fresh."""
        try:
            boot_id, stamp = _read_beat(self._heartbeat_path)
        except (OSError, ValueError) as error:
            return (f"no heartbeat can be read from {self._heartbeat_path} ({error})",)
        if boot_id != self._boot_id:
            return (f"the heartbeat in {self._heartbeat_path} is of an earlier boot of this host",)
        # In plain seconds: a stamp that is no number or beyond any timedelta must come out as stale, not as an error.
        age, limit = self._clock.monotonic() - stamp, self._max_age.total_seconds()
        if 0 <= age <= limit:
            return ()
        return (f"the heartbeat in {self._heartbeat_path} is {age:.1f} s old, expected 0 to {limit:g} s",)

    def readiness_problems(self) -> tuple[str, ...]:
        """Why the process is not ready; empty with the marker there and a fresh heartbeat."""
        try:
            self._readiness_path.stat()
        except OSError as error:
            return (f"no readiness marker at {self._readiness_path} ({error.strerror})", *self.liveness_problems())
        return self.liveness_problems()


def read_boot_id() -> str:
    """The host's boot id.

    Returns:
        "-" where the host has none to read (other than Linux, some sandboxes). A beat of an earlier boot is then told
        only by its time being ahead of the clock, so it could pass for fresh for `max_age` once the uptimes meet.
    """
    try:
        return _BOOT_ID_FILE.read_text(encoding="ascii").strip() or "-"
    except (OSError, ValueError):
        return "-"


def _read_beat(path: Path) -> tuple[str, float]:
    with path.open("rb") as file:
        boot_id, stamp = file.read(_MAX_BEAT_BYTES).decode("ascii").split()
    return boot_id, float(stamp)


def _write_whole(path: Path, text: str) -> None:
    """Writes beside the file and renames, so that a reader sees the old text or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="ascii")
        beside.replace(path)
    except OSError as error:
        raise ConfigurationInvalid(
            f"cannot write {path}: {error.strerror}; the path must lie in a folder that exists and is writable"
        ) from error
