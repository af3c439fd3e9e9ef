"""How a change stands to what is on disk."""

from pathlib import Path, PurePosixPath

import pytest

from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.edits import Done, EditOutcome
from headrace.tools.new_worker.exceptions import GeneratorError
from headrace.tools.new_worker.plan import FileState, Plan
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.trees import LIST, AddedLine, changes, impossible, small_tree, state_of, write


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return small_tree(tmp_path)


def states(plan: Plan) -> dict[str, str]:
    return {str(file.path): str(file.state) for file in plan.files}


def only_help(draft: Draft) -> str:
    (file,) = draft.plan().files
    assert file.state is FileState.CONFLICT
    return file.help


def test_states_are_told_per_file_and_nothing_is_written(tree: Tree) -> None:
    before = state_of(tree.root)
    draft = Draft(tree)
    draft.create(PurePosixPath("workers/new/README.md"), "# New\n")
    draft.create(PurePosixPath("pyproject.toml"), '[project]\nname = "acme"\n')
    draft.create(PurePosixPath("scripts/run.sh"), "something else\n")
    draft.edit(LIST, AddedLine("- new").apply)
    draft.remove(PurePosixPath("docs/old.md"))
    assert states(draft.plan()) == {
        "docs/list.md": "update",
        "docs/old.md": "remove",
        "pyproject.toml": "identical",
        "scripts/run.sh": "conflict",
        "workers/new/README.md": "create",
    }
    assert changes(tree.root, before) == []


def test_edit_is_identical_when_it_is_there_already(tree: Tree) -> None:
    draft = Draft(tree)
    draft.edit(LIST, AddedLine("- kit").apply)
    assert states(draft.plan()) == {"docs/list.md": "identical"}


def test_edits_of_one_file_build_on_each_other(tree: Tree) -> None:
    draft = Draft(tree)
    draft.edit(LIST, AddedLine("- one").apply)
    draft.edit(LIST, AddedLine("- two").apply)
    (file,) = draft.plan().files
    assert file.after == b"# Workers\n\n- kit\n- one\n- two\n"


def test_edit_builds_on_a_file_of_the_same_change(tree: Tree) -> None:
    draft = Draft(tree)
    draft.create(PurePosixPath("docs/new.md"), "# New\n")
    draft.edit(PurePosixPath("docs/new.md"), AddedLine("- one").apply)
    (file,) = draft.plan().files
    assert (file.state, file.after) == (FileState.CREATE, b"# New\n- one\n")


def test_edit_is_a_conflict_with_its_help_when_it_does_not_fit(tree: Tree) -> None:
    draft = Draft(tree)
    draft.edit(LIST, impossible)
    assert only_help(draft) == "There is no list: write `- worker` into it by hand."


def test_edit_is_a_conflict_when_the_file_is_missing(tree: Tree) -> None:
    draft = Draft(tree)
    draft.edit(PurePosixPath("docs/gone.md"), AddedLine("- new").apply)
    assert "docs/gone.md is missing" in only_help(draft)


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD\n", ">>>>>>> other\n", "<<<<<<<\n"])
def test_edit_is_a_conflict_when_a_merge_is_unsettled(tree: Tree, marker: str) -> None:
    write(tree.root, "docs/list.md", f"# Workers\n{marker}- kit\n")
    draft = Draft(tree)
    draft.edit(LIST, AddedLine("- new").apply)
    assert "has the marks of a merge" in only_help(draft)


def test_file_is_a_conflict_when_a_link_stands_in_its_place(tree: Tree) -> None:
    (tree.root / "docs/link.md").symlink_to("list.md")
    draft = Draft(tree)
    draft.edit(PurePosixPath("docs/link.md"), AddedLine("- new").apply)
    assert "is not a regular file" in only_help(draft)


def test_file_is_a_conflict_when_its_folder_leads_out_of_the_tree(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tree.root / "workers/out").symlink_to(tmp_path_factory.mktemp("outside"))
    draft = Draft(tree)
    draft.create(PurePosixPath("workers/out/README.md"), "# Out\n")
    assert "leads out of the tree" in only_help(draft)


def test_file_is_a_conflict_when_a_file_stands_where_its_folder_would(tree: Tree) -> None:
    draft = Draft(tree)
    draft.create(PurePosixPath("docs/list.md/new.md"), "# New\n")
    assert "would lie below a file" in only_help(draft)


def test_file_is_a_conflict_when_it_is_no_text(tree: Tree) -> None:
    (tree.root / LIST).write_bytes(b"\xff\xfe")
    draft = Draft(tree)
    draft.edit(LIST, AddedLine("- new").apply)
    assert "is not UTF-8 text" in only_help(draft)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def broken(:\n"),
        ("a.toml", "x = \n"),
        ("a.json", "{,}"),
        ("a.yml", "a: [1\n"),
        ("a.yaml", "a: b: c\n"),
    ],
)
def test_plan_is_refused_when_a_text_would_not_parse(tree: Tree, path: str, text: str) -> None:
    draft = Draft(tree)
    draft.create(PurePosixPath(path), text)
    with pytest.raises(GeneratorError, match=f"{path} would not parse"):
        draft.plan()


def _untidy(text: str) -> EditOutcome:
    return Done(text + "x=1\n")


def test_plan_is_refused_when_an_edit_would_spoil_a_tidy_file(tree: Tree) -> None:
    draft = Draft(tree)
    draft.edit(PurePosixPath("om/src/acme/om/__init__.py"), _untidy)
    with pytest.raises(GeneratorError, match="would lose its form"):
        draft.plan()


def test_edit_leaves_the_developers_form_alone_when_the_file_was_untidy(tree: Tree) -> None:
    write(tree.root, "om/src/acme/om/__init__.py", "y=2\n")
    draft = Draft(tree)
    draft.edit(PurePosixPath("om/src/acme/om/__init__.py"), _untidy)
    (file,) = draft.plan().files
    assert file.after == b"y=2\nx=1\n"
