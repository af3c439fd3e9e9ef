"""The logs of several processes on one screen, each line behind its process's name."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

LOOK_EVERY: Final = timedelta(milliseconds=300)
MAX_CHUNK_BYTES: Final = 64 * 1024
"""Of one log at one look; what a flood leaves behind is shown at the next."""


class FollowedLog:
    """One growing file, from where it ends now.

    Args:
        path: The file; it may be missing, emptied or replaced at any time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = self._size()
        self._partial = b""

    def new_lines(self) -> list[str]:
        """Returns the lines that were completed since the last call."""
        if self._size() < self._position:
            self._position, self._partial = 0, b""
        *complete, self._partial = (self._partial + self._read()).split(b"\n")
        return [line.decode(errors="replace") for line in complete]

    def _read(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                chunk = file.read(MAX_CHUNK_BYTES)
        except OSError:
            return b""
        self._position += len(chunk)
        return chunk

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.is_file() else 0


async def follow_logs(logs: Mapping[str, Path], show: Callable[[str], None]) -> None:
    """Show new lines of the logs until cancelled, each behind its name and a bar."""
    followed = {name: FollowedLog(path) for name, path in logs.items()}
    broad = max(map(len, logs))
    while True:
        for name, log in followed.items():
            for line in log.new_lines():
                show(f"{name:<{broad}} | {line}")
        await asyncio.sleep(LOOK_EVERY.total_seconds())
