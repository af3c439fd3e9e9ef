"""Trees without the namespace, and giving it to them the way the command does."""

import shutil
from pathlib import Path

from headrace.tools.new_worker.change import Change
from headrace.tools.new_worker.debris import is_debris
from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.namespace import namespace_plan
from headrace.tools.new_worker.plan import Plan
from headrace.tools.new_worker.tree import Tree

ROOT = Path(__file__).parents[3]

# What the namespace is made of and builds on.
CONCERNED = ("pyproject.toml", ".env.example", "om", "infra")

_LEFT_OUT = frozenset({".git", ".venv", ".headrace", "uv.lock", "golden"})


def copy_repository(destination: Path, *names: str) -> Path:
    """Copy some of the repository's top folders and files, or all of it, without what is installed or left over."""
    destination.mkdir(parents=True)
    for name in names or (path.name for path in sorted(ROOT.iterdir()) if path.name not in _left_out("", [path.name])):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, destination / name, ignore=_left_out, symlinks=True)
        else:
            shutil.copy(ROOT / name, destination / name)
    return destination


def _left_out(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name in _LEFT_OUT or is_debris(name)}


def plan_namespace(root: Path, source: Path) -> Plan:
    """Plan the namespace for a tree, taken from another."""
    target = Tree.open(root)
    creates, edits = namespace_plan(target, Tree.open(source))
    draft = Draft(target)
    for path, text in creates.items():
        draft.create(path, text)
    for edit in edits:
        draft.edit(edit.path, edit.apply)
    return draft.plan()


def give_namespace(root: Path, source: Path) -> Plan:
    """Give a tree the namespace of another; return what was planned."""
    plan = plan_namespace(root, source)
    assert not plan.conflicts, [file.help for file in plan.conflicts]
    with Change(root, plan).applied(lambda _: None):
        pass
    return plan


def rename_root(root: Path, old: str, new: str) -> None:
    """Give a tree another root package and all that is called after it, but leave the examples, whose size is told."""
    for file in sorted(path for path in root.rglob("*") if path.is_file() and "examples" not in path.parts):
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for word, other in ((old, new), (old.upper(), new.upper()), (old.title(), new.title())):
            text = text.replace(word, other)
        file.write_text(text, encoding="utf-8")
    for folder in sorted(root.glob(f"**/src/{old}")):
        folder.rename(folder.with_name(new))
