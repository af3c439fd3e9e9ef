"""The working tree under test, and the linters that come with it."""

import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DEPLOYMENT: Final = ROOT / "deployment"


def run(
    program: str | Path, *arguments: str | Path, folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program, for at most two minutes; a program of the tree's own environment may be given by name alone."""
    own = Path(sysconfig.get_path("scripts")) / program
    argv = [str(own if own.is_file() else program), *map(str, arguments)]
    return subprocess.run(  # noqa: S603 - a test's own arguments, no shell
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
