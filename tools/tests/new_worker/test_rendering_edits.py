"""The edits of shared lists: pure, sorted, and taken back byte for byte."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.rendering.kinds_edit import add_kind, remove_kind
from headrace.tools.new_worker.rendering.readme_edit import KindRow, add_row, remove_row

WORK = Path(__file__).parents[3] / "om/src/headrace/om/work"

PLAIN = '''\
class WorkKind(StrEnum):
    """Kinds."""

    BAKE = "BAKE"
    NOOP = "NOOP"
'''
TOLD = '''\
class WorkKind(StrEnum):
    """Kinds."""

    # The oven's.
    BAKE = "BAKE"  # bread
    """Asks for bread.

    At once.
    """

    # Nothing.
    NOOP = "NOOP"
    """Nothing."""

    def is_known(self) -> bool:
        return True


OTHER = "OTHER"
'''
TABLE = """\
# Work

| kind | asks for |
| --- | --- |
| `BAKE` | bread |
| `NOOP` | nothing |

The end.
"""


def add_to_readme(kind: str, text: str) -> EditOutcome:
    return add_row(KindRow(kind, f"the work of {kind}"), text)


def remove_from_readme(kind: str, text: str) -> EditOutcome:
    return remove_row(KindRow(kind, f"the work of {kind}"), text)


def done(outcome: EditOutcome) -> str:
    assert isinstance(outcome, Done), outcome
    return outcome.text


type Change = Callable[[str, str], EditOutcome]

both = pytest.mark.parametrize(
    ("add", "remove", "text"),
    [
        pytest.param(add_kind, remove_kind, PLAIN, id="kinds"),
        pytest.param(add_kind, remove_kind, TOLD, id="kinds with comments"),
        pytest.param(add_kind, remove_kind, TOLD.replace("\n", "\r\n"), id="kinds with other line ends"),
        pytest.param(add_kind, remove_kind, (WORK / "types/kinds.py").read_text(), id="the tree's kinds"),
        pytest.param(add_to_readme, remove_from_readme, TABLE, id="table"),
        pytest.param(add_to_readme, remove_from_readme, TABLE.replace("\n", "\r\n"), id="table with other line ends"),
        pytest.param(add_to_readme, remove_from_readme, (WORK / "README.md").read_text(), id="the tree's table"),
    ],
)
NEW = ("AAA", "CAKE", "ZZZ_9")


@both
def test_the_first_text_comes_back_when_a_kind_is_taken_out_in_any_order(
    add: Change, remove: Change, text: str
) -> None:
    full = text
    for kind in NEW:
        full = done(add(kind, full))
    for order in permutations(NEW):
        left = full
        for kind in order:
            left = done(remove(kind, left))
        assert left == text


@both
def test_the_same_text_comes_out_whatever_the_order_of_adding(add: Change, remove: Change, text: str) -> None:
    assert callable(remove)
    results = set()
    for order in permutations(NEW):
        grown = text
        for kind in order:
            grown = done(add(kind, grown))
        results.add(grown)
    assert len(results) == 1


@both
def test_nothing_is_changed_when_it_is_there_or_gone_already(add: Change, remove: Change, text: str) -> None:
    assert isinstance(add("CAKE", done(add("CAKE", text))), AlreadyThere)
    assert isinstance(remove("CAKE", text), AlreadyThere)


def test_a_member_goes_where_its_name_sorts_and_never_between_a_member_and_what_is_said_of_it() -> None:
    grown = TOLD
    for kind in NEW:
        grown = done(add_kind(kind, grown))
    lines = grown.splitlines()
    assert lines[3:5] == ['    AAA = "AAA"', "    # The oven's."]
    assert lines[lines.index('    CAKE = "CAKE"') + 1] == "    # Nothing."
    assert lines[lines.index('    ZZZ_9 = "ZZZ_9"') - 1] == '    """Nothing."""'


def test_a_member_is_taken_out_with_what_somebody_said_of_it() -> None:
    left = done(remove_kind("BAKE", TOLD))
    assert "oven" not in left
    assert "At once" not in left
    assert "# Nothing." in left


def test_a_row_is_taken_out_whatever_it_says_by_now() -> None:
    changed = done(add_to_readme("CAKE", TABLE)).replace("the work of CAKE", "a cake, with candles")
    assert done(remove_from_readme("CAKE", changed)) == TABLE


@pytest.mark.parametrize("change", [add_kind, remove_kind])
@pytest.mark.parametrize("text", ["X = 1\n", PLAIN + "\n\n" + PLAIN, "class WorkKind(StrEnum):\n    pass\n"])
def test_a_module_without_the_one_enumeration_is_refused_with_what_to_write(change: Change, text: str) -> None:
    outcome = change("CAKE", text)
    assert isinstance(outcome, Cannot)
    assert '`CAKE = "CAKE"`' in outcome.help


@pytest.mark.parametrize("change", [add_kind, remove_kind])
@pytest.mark.parametrize("value", ['"cake"', "auto()"])
def test_a_member_with_another_value_is_refused(change: Change, value: str) -> None:
    outcome = change("CAKE", PLAIN.replace('BAKE = "BAKE"', f"CAKE = {value}"))
    assert isinstance(outcome, Cannot)
    assert "another value" in outcome.help


@pytest.mark.parametrize("change", [add_to_readme, remove_from_readme])
@pytest.mark.parametrize("text", ["# Work\n", TABLE + TABLE])
def test_a_readme_without_the_one_table_is_refused_with_what_to_write(change: Change, text: str) -> None:
    outcome = change("CAKE", text)
    assert isinstance(outcome, Cannot)
    assert "| `CAKE` | the work of CAKE |" in outcome.help


def test_a_table_that_ends_the_file_without_a_line_end_is_refused() -> None:
    outcome = add_to_readme("ZZZ", TABLE.partition("\n\nThe end")[0])
    assert isinstance(outcome, Cannot)
    assert "without a line end" in outcome.help
