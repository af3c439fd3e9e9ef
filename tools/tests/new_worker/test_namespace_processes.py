"""What the namespace path writes passes its gate, in a tree of ours and in one with another root package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.new_worker.namespace import strip_namespace
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.namespace_trees import ROOT, copy_repository, give_namespace, rename_root
from tools.tests.new_worker.trees import lasting_changes, state_of

pytestmark = [pytest.mark.processes, pytest.mark.timeout(900)]


def run_in(root: Path, *arguments: str) -> None:
    """Run a module of the tools that are installed here over a tree's own packages."""
    folders = [path for pattern in ("*/src", "workers/*/src") for path in sorted(root.glob(pattern))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    argv = [sys.executable, "-m", *arguments]
    done = subprocess.run(argv, cwd=root, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_the_whole_tree_is_as_it_was_and_its_gate_is_green_when_the_namespace_was_given_back(tmp_path: Path) -> None:
    tree = copy_repository(tmp_path / "tree")
    before = state_of(tree)
    strip_namespace(Tree.open(tree))
    give_namespace(tree, ROOT)
    assert lasting_changes(tree, before) == []
    run_in(tree, "ruff", "check", "--no-cache", "om", "infra")
    run_in(tree, "ruff", "format", "--no-cache", "--check", "om", "infra")
    run_in(tree, "mypy", "om/src")
    run_in(tree, "pytest", "-q", "-p", "no:cacheprovider", "om/tests/unit")


def test_the_code_is_formatted_and_passes_its_tests_when_the_tree_has_another_root_package(tmp_path: Path) -> None:
    tree = copy_repository(tmp_path / "tree")
    rename_root(tree, "headrace", "acme")
    run_in(tree, "ruff", "check", "--no-cache", "--select", "I", "--fix", "--quiet", "om", "infra")
    run_in(tree, "ruff", "format", "--no-cache", "--quiet", "om", "infra")
    before = state_of(tree)
    strip_namespace(Tree.open(tree), is_formatted=True)
    give_namespace(tree, ROOT)
    assert lasting_changes(tree, before) == []
    assert (tree / "om/src/acme/om/work/manager.py").is_file()
    run_in(tree, "pytest", "-q", "-p", "no:cacheprovider", "om/tests/unit", "infra/tests/topics/test_wakeups.py")
