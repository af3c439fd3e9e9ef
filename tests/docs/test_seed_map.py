"""`docs/seed-map.md` points at what there is: no cell is empty, each file, class and linked page of it exists."""

import re
from typing import Final

import pytest

from tests.docs.references import ROOT, is_name, is_path, rows_of, ticked

PAGE: Final = ROOT / "docs" / "seed-map.md"
ROWS: Final = tuple(rows_of(PAGE))
OURS: Final = tuple(name for row in ROWS for name in ticked(row[1]))

LOOKS_LIKE_A_PATH: Final = re.compile(r"[\w<.][\w.*{},<>/-]*(/[\w.*{},<>-]*|\.(py|sql|sh|toml|md))")
LOOKS_LIKE_A_CLASS: Final = re.compile(r"[A-Z][a-z]\w+(\.\w+)?")
LINK: Final = re.compile(r"\]\((?!https?:)([^)#]+)")


def test_no_cell_is_empty() -> None:
    assert [row for row in ROWS if len(row) != 2 or not all(row)] == []


def test_every_file_of_ours_is_there() -> None:
    paths = [each for each in OURS if LOOKS_LIKE_A_PATH.fullmatch(each)]
    assert len(paths) > 40
    assert [each for each in paths if not is_path(each)] == []


def test_every_class_of_ours_is_there() -> None:
    names = [each for each in OURS if LOOKS_LIKE_A_CLASS.fullmatch(each)]
    assert len(names) > 20
    assert [each for each in names if not is_name(each)] == []


def test_every_linked_page_is_there() -> None:
    links = LINK.findall(PAGE.read_text(encoding="utf-8"))
    assert links
    assert [each for each in links if not (PAGE.parent / each).exists()] == []


@pytest.mark.parametrize("wrong", ["work/nothing.py", "orage/root.py", "om/{nothing,root}.py", "workers/kit/.../no.py"])
def test_a_file_that_is_not_there_is_noticed(wrong: str) -> None:
    assert not is_path(wrong)


@pytest.mark.parametrize("right", ["work/{manager,rules}.py", "workers/kit/.../renewal.py", "work/impl/*.py", "tests"])
def test_a_file_is_found_by_the_end_of_its_path(right: str) -> None:
    assert is_path(right)
