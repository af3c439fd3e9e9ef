"""A small lock in both forms, and a stand-in for uv that answers like one behind a given index."""

import sys
from pathlib import Path

from headrace.tools.lock.text import Index

INDEX = Index(registry="https://index.example/simple", files="https://files.example/packages/")
MIRROR = Index(registry="https://mirror.example/pypi/simple", files="https://mirror.example/pypi/packages/packages/")

LEAF_FILE = "ab/cd/0123/leaf-1.0-py3-none-any.whl"
STRIPPED = f"""\
version = 1
requires-python = ">=3.12"

[[package]]
name = "branch"
version = "2.0"
source = {{ registry = "pypi" }}
dependencies = [
    {{ name = "leaf" }},
]
wheels = [
    {{ url = "ef/01/4567/branch-2.0-py3-none-any.whl", hash = "sha256:22", size = 2 }},
]

[[package]]
name = "leaf"
version = "1.0"
source = {{ registry = "pypi" }}
sdist = {{ url = "ab/ce/89ab/leaf-1.0.tar.gz", hash = "sha256:10", size = 10 }}
wheels = [
    {{ url = "{LEAF_FILE}", hash = "sha256:11", size = 1, upload-time = "2026-01-01T00:00:00Z" }},
]

[[package]]
name = "many-files"
version = "3.0"
source = {{ registry = "pypi" }}
wheels = [
    {{ url = "aa/bb/cc/many_files-3.0-cp312.whl", hash = "sha256:33", size = 3 }},
    {{ url = "aa/bb/dd/many_files-3.0-cp313.whl", hash = "sha256:34", size = 3 }},
]

[[package]]
name = "own"
version = "0.1.0"
source = {{ editable = "own" }}
"""

# A workspace of a library and two workers, of which one asks for something that the other does not.
WORKSPACE = """\
version = 1
requires-python = ">=3.12"

[manifest]
members = [
    "bird-feeder",
    "library",
    "mail-sorter",
]

[[package]]
name = "bird-feeder"
version = "0.1.0"
source = { editable = "workers/bird-feeder" }
dependencies = [
    { name = "leaf" },
    { name = "library" },
]

[package.metadata]
requires-dist = [
    { name = "leaf", specifier = ">=1" },
    { name = "library", editable = "library" },
]

[[package]]
name = "leaf"
version = "1.0"
source = { registry = "pypi" }
wheels = [
    { url = "ab/cd/0123/leaf-1.0-py3-none-any.whl", hash = "sha256:11", size = 1 },
]

[[package]]
name = "library"
version = "0.1.0"
source = { editable = "library" }

[[package]]
name = "mail-sorter"
version = "0.2.0"
source = { editable = "workers/mail" }
dependencies = [
    { name = "library" },
]

[package.metadata]
requires-dist = [
    { name = "library", editable = "library" },
]
"""
PROJECTS = {
    "library": '[project]\nname = "library"\nversion = "0.1.0"\n',
    "workers/bird-feeder": """\
[project]
name = "bird-feeder"
version = "0.1.0"
dependencies = ["leaf>=1", "library"]
""",
    "workers/mail": """\
[project]
name = "mail-sorter"
version = "0.2.0"
dependencies = ["library"]
""",
}

# Writes ./uv.lock as uv would: the whole answer lies beside the program. `--check` compares instead.
_UV = """\
#!{python}
import pathlib, sys
answer = pathlib.Path({answer!r}).read_text()
pathlib.Path(__file__).with_name("calls").open("a").write(" ".join(sys.argv[1:3]) + "\\n")
lock = pathlib.Path("uv.lock")
if "--check" in sys.argv:
    sys.exit(0 if lock.read_text() == answer else "The lockfile needs to be updated")
lock.write_text(answer)
"""


def write_uv(folder: Path, answer: str) -> str:
    """Makes a program that behaves like uv with one answer to everything, and returns its path."""
    folder.mkdir(exist_ok=True)
    (folder / "answer.lock").write_text(answer)
    program = folder / "uv"
    program.write_text(_UV.format(python=sys.executable, answer=str(folder / "answer.lock")))
    program.chmod(0o755)
    return str(program)
