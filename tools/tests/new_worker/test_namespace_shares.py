"""What depends on the namespace goes from a module and comes back as it was, and nothing else does."""

import pytest

from headrace.tools.new_worker.edits import AlreadyThere
from tools.tests.new_worker.namespace_shapes import SHAPES
from tools.tests.new_worker.namespace_shares import TEST_PATH, edit_of, file, share_of, text_of


@pytest.mark.parametrize(("with_it", "without_it"), SHAPES.values(), ids=SHAPES)
def test_a_module_is_the_same_again_when_its_share_was_taken_out_and_put_back(with_it: str, without_it: str) -> None:
    edit = edit_of(with_it)
    base = text_of(edit.revert(file(with_it)))
    assert base.strip() == file(without_it).strip()
    assert text_of(edit.apply(base)) == file(with_it)


@pytest.mark.parametrize("with_it", [each for each, _ in SHAPES.values()], ids=SHAPES)
def test_nothing_changes_when_an_edit_is_made_or_taken_back_twice(with_it: str) -> None:
    edit = edit_of(with_it)
    base = text_of(edit.revert(file(with_it)))
    assert edit.apply(file(with_it)) == AlreadyThere()
    assert edit.revert(base) == AlreadyThere()


@pytest.mark.parametrize(("with_it", "without_it"), SHAPES.values(), ids=SHAPES)
def test_a_text_is_as_it_was_when_an_edit_was_made_and_taken_back(with_it: str, without_it: str) -> None:
    edit = edit_of(with_it)
    base = f'"""Somebody else\'s."""\n\nimport os\n\n{file(without_it)}\n\nprint(os)  # kept\n'
    assert text_of(edit.revert(text_of(edit.apply(base)))) == base


def test_a_module_that_does_not_speak_of_it_has_no_share() -> None:
    assert share_of("from acme.om.audit import AuditManager\n\naudit = AuditManager()\n") is None


def test_what_follows_from_another_module_is_found() -> None:
    relay = """
    from acme.om.work import WorkManager


    class Relay:
        def __init__(self, events: int, work: WorkManager) -> None:
            self._events = events
            self._work = work
    """
    share = share_of(
        """
        from acme.om.relay import Relay

        relay = Relay(1, 2)
        again = Relay(1, work=2)
        """,
        ("acme.om.relay", relay),
    )
    assert share is not None
    assert [(part.path[0], part.key) for part in share.parts] == [("relay", "2"), ("again", "work")]


def test_what_is_the_namespaces_by_its_name_goes_with_all_that_uses_it() -> None:
    topics = """
    class Topics:
        WORK_DONE = "done"
        OTHER = "other"
    """
    share = share_of(
        """
        from acme.om.topics import Topics

        PAYLOADS = {Topics.WORK_DONE: int, Topics.OTHER: str}
        """,
        ("acme.om.topics", topics),
    )
    assert share is not None
    assert [part.key for part in share.parts] == ["Topics.WORK_DONE"]


TESTS = """
import pytest

from acme.om.root import build
from acme.om.work import WorkManager


@pytest.fixture
def work() -> WorkManager:
    return WorkManager()


def expected() -> int:
    return 1


def test_one() -> None:
    assert build() == 1


def test_two(work: object) -> None:
    assert build() == expected()
"""


def test_a_test_goes_whole_with_its_fixtures_and_helpers() -> None:
    share = share_of(TESTS, path=TEST_PATH)
    assert share is not None
    assert [part.key for part in share.parts] == ["work", "expected", "test_two"]
    assert not share.is_all


def test_a_test_goes_whole_when_an_argument_in_it_would() -> None:
    relay = """
    from acme.om.work import WorkManager


    class Relay:
        def __init__(self, events: int, work: WorkManager | None = None) -> None:
            self._events = events
            self._work = work
    """
    tests = """
    from acme.om.relay import Relay


    def test_one() -> None:
        assert Relay(1)


    def test_two() -> None:
        assert Relay(1, work=2)
    """
    share = share_of(tests, ("acme.om.relay", relay), path=TEST_PATH)
    assert share is not None
    assert [part.key for part in share.parts] == ["test_two"]


def test_a_file_whose_every_test_goes_is_the_namespaces_own() -> None:
    share = share_of(TESTS.replace("def test_one", "def one"), path=TEST_PATH)
    assert share is not None
    assert share.is_all
