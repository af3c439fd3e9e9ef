"""What the rules let pass, and what takes a whole file to plant."""

from pathlib import Path

import pytest

from tools.tests.arch_check.trees import OM, SQL, VERSIONS, clean_tree

LONG = "\n".join(f"x{number} = {number}" for number in range(301)) + "\n"

ACCEPTED = {
    "a long module with its reason": (f"{OM}/work/long.py", f'"""Long."""\n\n# size: one table, read as one\n{LONG}'),
    "a module of many blank and comment lines": (f"{OM}/work/long.py", '"""Doc."""\n' + "# why\n\n" * 400),
    "a long docstring": (f"{OM}/work/long.py", 'def f():\n    """One.\n' + "    line\n" * 80 + '    """\n'),
    "an interface of an interface": (f"{OM}/work/more.py", "class BInterface(AInterface): ...\n"),
    "an implementation through a base": (f"{OM}/work/b.py", "class B(AInterface): ...\n\n\nclass CImpl(B[int]): ...\n"),
    "a generic interface": (f"{OM}/work/b.py", "class CImpl(stores.AInterface[int]): ...\n"),
    "a package whose name only begins like the tools'": (f"{OM}/work/b.py", "from acme.tooling import x\n"),
    "a key within a role": (
        f"{OM}/work/storage/tables/items.py",
        'class ItemRow(Table):\n    __tablename__ = "items"\n    last = mapped_column(ForeignKey("items.id"))\n',
    ),
    "an anonymous block in a migration": (
        f"{SQL}/core/202611300930_users.up.sql",
        "ALTER TABLE core.members RENAME TO users;\nDO $$ BEGIN PERFORM 1; END $$;\n",
    ),
    "a package of migrations": (f"{VERSIONS}/core/__init__.py", ""),
    "a file in a folder of local state": (".venv/lib/utils.py", "def f(:\n"),
    "a binary file": ("docs/picture.bin", "\0 pypi" + ".org"),
    "a Nix file of comments": ("nix/image.nix", "# why\n" * 100),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_nothing_is_found_when_the_file_is_as_it_should_be(tmp_path: Path, case: str) -> None:
    tree = clean_tree(tmp_path)
    tree.write(*ACCEPTED[case])
    assert tree.findings() == ()


@pytest.mark.parametrize("kind", ["tenantless", "exempt"])
def test_inherited_member_may_be_listed_under_the_heir(tmp_path: Path, kind: str) -> None:
    tree = clean_tree(tmp_path)
    split = {
        "tenantless": (
            f"{OM}/work/storage/__init__.py",
            "class WorkStorageInterface(ABC)",
            "class XStorageInterface(ABC)",
        ),
        "exempt": (f"{OM}/work/impl/manager.py", "class WorkManagerImpl(", "class XManagerImpl("),
    }
    path, old, new = split[kind]
    tree.edit(path, old, new)
    heir, base = old.split()[1].partition("(")[0], new.split()[1].partition("(")[0]
    tree.write(f"{OM}/work/heir.py", f"class {heir}({base}, Other): ...\n")
    assert tree.findings() == ()


def test_missing_chain_is_found_when_a_role_has_tables(tmp_path: Path) -> None:
    tree = clean_tree(tmp_path)
    (tmp_path / VERSIONS / "queue/202611300901_items.py").unlink()
    sentences = [finding.sentence for finding in tree.findings() if finding.rule == "MIG-5"]
    assert sentences == ["the role queue has tables, but no migration chain"]


@pytest.mark.parametrize("direction", ["up", "down"])
def test_missing_script_is_found_when_one_direction_is_gone(tmp_path: Path, direction: str) -> None:
    tree = clean_tree(tmp_path)
    (tmp_path / SQL / f"core/202611300930_users.{direction}.sql").unlink()
    sentences = [finding.sentence for finding in tree.findings() if finding.rule == "MIG-6"]
    assert sentences == [f"has no script sql/core/202611300930_users.{direction}.sql"]


def test_missing_maps_are_found_when_there_are_tables(tmp_path: Path) -> None:
    tree = clean_tree(tmp_path)
    (tmp_path / OM / "storage/roles.py").unlink()
    assert "STO-1" in {finding.rule for finding in tree.findings()}


def test_problem_of_an_option_points_at_its_line(tmp_path: Path) -> None:
    tree = clean_tree(tmp_path)
    tree.edit("pyproject.toml", '_next"]', '_next", "A.b"]')
    assert [(finding.path, finding.line) for finding in tree.findings()] == [("pyproject.toml", 2)]
