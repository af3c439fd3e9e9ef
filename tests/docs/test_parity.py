"""`docs/parity.md` names what there is: no cell is empty, and each name and test of it exists."""

from typing import Final

import pytest

from tests.docs.references import ROOT, is_name, is_target, is_test, rows_of, ticked

PAGE: Final = ROOT / "docs" / "parity.md"
ROWS: Final = tuple(rows_of(PAGE))


def test_no_cell_is_empty() -> None:
    assert [row for row in ROWS if len(row) != 3 or not all(row)] == []


def test_every_line_names_a_test_and_each_is_there() -> None:
    named = {row[0]: ticked(row[2]) for row in ROWS}
    assert [line for line, tests in named.items() if not tests] == []
    assert sorted({test for tests in named.values() for test in tests if not is_test(test)}) == []


def test_every_name_of_ours_is_there() -> None:
    ours = {name for row in ROWS for name in ticked(row[1])}
    assert len(ours) > 100
    assert sorted(name for name in ours if not is_name(name) and not is_target(name)) == []


@pytest.mark.parametrize(
    "wrong", ["om/tests/contracts/work_items.py::test_nothing", "om/tests/nowhere.py::test_x", "test_no_cell_is_empty"]
)
def test_a_test_that_is_not_there_is_noticed(wrong: str) -> None:
    assert not is_test(wrong)


@pytest.mark.parametrize("wrong", ["WorkItem.nothing", "Nothing", "rules", "WorkItem.kind.nothing", "make nothing"])
def test_a_name_that_is_not_there_is_noticed(wrong: str) -> None:
    assert not is_name(wrong)
    assert not is_target(wrong)
