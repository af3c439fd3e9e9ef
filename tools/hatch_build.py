"""Packs the work namespace, and what shows how a tree holds it, into the built distribution.

`new-worker` gives it to trees that have none. In a checkout it reads the files where they are, so that nothing of this
is stored twice.
"""

from pathlib import Path
from typing import Any, override

from hatchling.builders.hooks.plugin.interface import (  # type: ignore[import-not-found]  # there while building only
    BuildHookInterface,
)

__all__ = ["SourceTreeHook", "packed_paths"]

PATHS = (
    "pyproject.toml",
    ".env.example",
    "om/README.md",
    "om/pyproject.toml",
    "om/migrations",
    "om/src",
    "om/tests",
    "infra/src",
    "infra/tests",
)
UNPACKED = "tree"
"""Where a source distribution has them, for wheels that are built from it."""


def packed_paths(project: Path, *, is_wheel: bool) -> dict[str, str]:
    """Return which files go where in a distribution; nothing where the project stands alone.

    Args:
        project: The folder of this project, in a checkout or unpacked from a source distribution.
        is_wheel: Whether the distribution is a wheel.
    """
    for tree in (project.parent, project / UNPACKED):
        if (tree / "om" / "src").is_dir():
            package = next((project / "src").glob("*/tools"))
            below = f"{package.relative_to(project / 'src')}/new_worker/namespace/tree" if is_wheel else UNPACKED
            return {str(tree / path): f"{below}/{path}" for path in PATHS}
    return {}


class SourceTreeHook(BuildHookInterface):  # type: ignore[misc]  # its types are there while building only
    """Adds the files to wheels and source distributions; an editable install reads the checkout."""

    @override
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"].update(packed_paths(Path(self.root), is_wheel=self.target_name == "wheel"))
