"""A copy of the repository to plant faults in."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
MAX_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class TreeCopy:
    """A git working tree with the files of the repository, as they are now.

    Attributes:
        root: Where it lies.
    """

    root: Path

    def replace(self, file: str, old: str, new: str) -> None:
        """Plants a fault: replaces a text that stands in a file exactly once."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the tree; both outputs end up in `stdout`."""
        return subprocess.run(  # noqa: S603 - argv of the tests themselves
            argv,
            cwd=self.root,
            text=True,
            errors="replace",
            check=False,
            timeout=MAX_SECONDS,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def build(self, output: str) -> subprocess.CompletedProcess[str]:
        """Builds an output of the flake, which sees the files that git knows."""
        self.run("git", "add", "--all")
        return self.run("scripts/nix.sh", "build", f".#{output}", "--no-link", "-L")


def copy_repository(root: Path) -> TreeCopy:
    """Copies every file that git keeps or would keep."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - fixed argv
    for name in filter(None, listed.stdout.split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, root / name)
    copy = TreeCopy(root)
    copy.run("git", "init", "--quiet")
    return copy
