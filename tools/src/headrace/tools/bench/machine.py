"""What a report says of the machine and the versions that it was made with."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

PACKAGES: Final = ("asyncpg", "uvloop", "sqlalchemy", "pydantic", "prometheus-client")
MIB: Final = 1024 * 1024


def machine() -> dict[str, str | int | float]:
    """Return what is known of the machine: cores, memory, processor, kernel, and how busy it is now."""
    return {
        "num_cores": os.cpu_count() or 0,
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB,
        "processor": _processor(),
        "kernel": f"{platform.system()} {platform.release()}",
        "load_before": os.getloadavg()[0],
    }


def versions(root: Path) -> dict[str, str]:
    """Return the versions of Python, of the packages on the hot paths, and of the working tree."""
    return {"python": platform.python_version(), "commit": _commit(root)} | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit(root: Path) -> str:
    argv = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)  # noqa: S603 - fixed argv
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
