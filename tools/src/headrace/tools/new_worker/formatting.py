"""Brings generated Python into the form that the tree's own formatter gives it, and checks that every text parses.

What a name's length does to line breaks and a name's letters to the order of imports is the formatter's to know, not
the templates'. The formatter works on texts in a temporary folder, with the settings of the tree, which stays as it is.
"""

import ast
import json
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruff import find_ruff_bin  # type: ignore[import-untyped]  # it ships no types

from headrace.tools.new_worker.exceptions import GeneratorError
from headrace.tools.new_worker.tree import Tree

_TIMEOUT_SECONDS: Final = 60
_SORTING: Final = ("--select", "I", "--fix-only", "--exit-zero")
# Where ruff looks for its settings, in its own order; a tree has at least the last.
_SETTINGS: Final = (".ruff.toml", "ruff.toml", "pyproject.toml")


def formatted(tree: Tree, texts: Mapping[PurePosixPath, str]) -> dict[PurePosixPath, str]:
    """Return Python texts with their imports and lines in the tree's form, and other texts as they are.

    Args:
        tree: Whose settings count.
        texts: Whole files, by where they will stand; they need not be there.

    Raises:
        GeneratorError: The formatter cannot read a text.
    """
    sources = [path for path in texts if path.suffix == ".py"]
    if not sources:
        return dict(texts)
    with tempfile.TemporaryDirectory(prefix="new-worker-") as name:
        folder = Path(name)
        for path in sources:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(texts[path].encode())
        # What is not on disk there would pass for somebody else's; tests import what they share from these folders.
        ours = f'lint.isort.known-first-party = ["{tree.root_package}", "om", "infra", "workers", "tests"]'
        _ruff(tree, folder, "check", *_SORTING, "--config", ours)
        _ruff(tree, folder, "format")
        return {**texts, **{path: (folder / path).read_bytes().decode() for path in sources}}


def check_parses(path: PurePosixPath, text: str) -> None:
    """Refuse a text that is not what its name promises; what has no syntax that is known here passes.

    Raises:
        GeneratorError: Where it breaks.
    """
    try:
        match path.suffix:
            case ".py":
                ast.parse(text, filename=str(path))
            case ".toml":
                tomllib.loads(text)
            case ".json":
                json.loads(text)
            case ".yml" | ".yaml":
                YAML(typ="safe", pure=True).load(text)
            case _:
                pass
    except (SyntaxError, ValueError, YAMLError) as error:
        raise GeneratorError(f"{path} would not parse: {error}") from error


def _ruff(tree: Tree, folder: Path, *arguments: str) -> None:
    argv = [find_ruff_bin(), *arguments, "--no-cache", "--quiet", *_settings(tree), str(folder)]
    done = subprocess.run(  # noqa: S603 - the formatter with fixed arguments
        argv, cwd=tree.root, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS
    )
    if done.returncode:
        raise GeneratorError(f"The formatter refuses what would be written: {done.stderr.strip()}")


def _settings(tree: Tree) -> tuple[str, str]:
    found = next(name for name in _SETTINGS if (tree.root / name).is_file())
    return "--config", found
