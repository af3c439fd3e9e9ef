"""What the kernel tells of a process: its processor time and its memory. Source: proc(5)."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
KIB: Final = 1024


def processor_seconds(pid: int) -> float:
    """Return the user and system seconds of a process, with those of its children that have ended."""
    fields = _stat(pid)
    return sum(int(fields[place]) for place in (11, 12, 13, 14)) / TICKS_PER_SECOND


def tree_processor_seconds(pid: int) -> float:
    """Return the user and system seconds of a process and of every child that it has or had."""
    return processor_seconds(pid) + sum(_own_seconds(child) for child in _children(pid))


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has in RAM now."""
    return _status(pid, "VmRSS")


def peak_resident_bytes(pid: int) -> int:
    """Return the most memory that a process ever had in RAM."""
    return _status(pid, "VmHWM")


def _own_seconds(pid: int) -> float:
    try:
        fields = _stat(pid)
    except OSError:  # it ended meanwhile; its parent counts it from now on
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def _stat(pid: int) -> list[str]:
    """Return the fields after the name, which may itself hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * KIB
    return 0


def _children(pid: int) -> Iterable[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return map(int, listed.split())
