from pathlib import Path

import pytest

from tests.flake.tree import TreeCopy, copy_repository


@pytest.fixture
def tree(tmp_path: Path) -> TreeCopy:
    """A copy of the repository without a fault."""
    return copy_repository(tmp_path / "tree")
