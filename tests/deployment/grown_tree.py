"""A copy of the working tree to which the generator has added a worker, and what would be deployed of it."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from headrace.tools.new_worker.debris import is_debris
from headrace.tools.terraform_inputs.document import TerraformInputs
from tests.deployment.repository import ROOT, run

WORKER: Final = "probe-of-growth"
KIND: Final = "PROBE_GROWTH"
"""Names that no worker of a tree has, whatever was added to it already."""

# What no worker touches; and no lock, so that nothing is resolved.
LEFT_OUT: Final = frozenset({".git", ".venv", ".headrace", "docs", "tools", "uv.lock", "lock.toml"})


def grown_inputs(folder: Path) -> dict[str, Any]:
    """Return the Terraform inputs of a copy of this tree, made with the generator's worker in it."""
    tree = Path(shutil.copytree(ROOT, folder / "tree", ignore=_left_out, symlinks=True))
    done = run("new-worker", WORKER, KIND, "--no-verify", "--root", tree)
    assert done.returncode == 0, done.stdout + done.stderr
    sources = os.pathsep.join(str(source) for source in sorted(tree.glob("**/src")))
    # The copy's packages come before those of this tree, of which they are a continuation.
    environment = {**os.environ, "PYTHONPATH": sources}
    arguments = ("-m", "headrace.tools.terraform_inputs", "--root", tree, "--unbuilt")
    done = run(sys.executable, *arguments, folder=tree, environment=environment)
    assert done.returncode == 0, done.stderr
    return TerraformInputs.model_validate_json(done.stdout).model_dump(mode="json")


def _left_out(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name in LEFT_OUT or is_debris(name)}
