"""An edit finds its place in a file that others have worked on, and refuses one where that place is not clear."""

import pytest

from headrace.tools.new_worker.edits import AlreadyThere, Cannot
from tools.tests.new_worker.namespace_shares import TEST_PATH, edit_of, file, text_of

MANAGERS = """
from acme.om.audit import AuditManager
from acme.om.work import WorkManager
from acme.om.zoning import ZoningManager


class Managers:
    audit: AuditManager
    work: WorkManager
    zoning: ZoningManager


def build() -> Managers:
    return Managers(audit=AuditManager(), work=WorkManager(), zoning=ZoningManager())
"""

# How somebody's file looks before, and after.
WORKED_ON = {
    "comments and entries were added": (
        """
        from acme.om.audit import AuditManager  # who did what
        from acme.om.billing import Billing
        from acme.om.zoning import ZoningManager


        class Managers:
            # The first.
            audit: AuditManager  # kept
            billing: Billing
            # The last.
            zoning: ZoningManager


        def build() -> Managers:
            # Made once.
            return Managers(audit=AuditManager(), billing=Billing(1), zoning=ZoningManager())
        """,
        """
        from acme.om.audit import AuditManager  # who did what
        from acme.om.billing import Billing
        from acme.om.work import WorkManager
        from acme.om.zoning import ZoningManager


        class Managers:
            # The first.
            audit: AuditManager  # kept
            work: WorkManager
            billing: Billing
            # The last.
            zoning: ZoningManager


        def build() -> Managers:
            # Made once.
            return Managers(audit=AuditManager(), work=WorkManager(), billing=Billing(1), zoning=ZoningManager())
        """,
    ),
    "everything stands in another order": (
        """
        from acme.om.zoning import ZoningManager
        from acme.om.audit import AuditManager


        def build() -> Managers:
            return Managers(
                zoning=ZoningManager(),
                audit=AuditManager(),
            )


        class Managers:
            zoning: ZoningManager
            audit: AuditManager
        """,
        """
        from acme.om.zoning import ZoningManager
        from acme.om.audit import AuditManager
        from acme.om.work import WorkManager


        def build() -> Managers:
            return Managers(
                zoning=ZoningManager(),
                audit=AuditManager(),
                work=WorkManager(),
            )


        class Managers:
            zoning: ZoningManager
            audit: AuditManager
            work: WorkManager
        """,
    ),
    "part of it is there": (
        """
        from acme.om.audit import AuditManager
        from acme.om.work import WorkManager
        from acme.om.zoning import ZoningManager


        class Managers:
            audit: AuditManager
            work:   WorkManager  # by hand
            zoning: ZoningManager


        def build() -> Managers:
            return Managers(audit=AuditManager(), zoning=ZoningManager())
        """,
        """
        from acme.om.audit import AuditManager
        from acme.om.work import WorkManager
        from acme.om.zoning import ZoningManager


        class Managers:
            audit: AuditManager
            work:   WorkManager  # by hand
            zoning: ZoningManager


        def build() -> Managers:
            return Managers(audit=AuditManager(), work=WorkManager(), zoning=ZoningManager())
        """,
    ),
    "the last element has no comma": (
        """
        from acme.om.audit import AuditManager


        class Managers:
            audit: AuditManager


        def build() -> Managers:
            return Managers(
                audit=AuditManager()
            )
        """,
        """
        from acme.om.audit import AuditManager
        from acme.om.work import WorkManager


        class Managers:
            audit: AuditManager
            work: WorkManager


        def build() -> Managers:
            return Managers(
                audit=AuditManager(), work=WorkManager()
            )
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), WORKED_ON.values(), ids=WORKED_ON)
def test_a_file_keeps_what_somebody_made_of_it_when_the_edit_is_made(before: str, after: str) -> None:
    edit = edit_of(MANAGERS)
    assert text_of(edit.apply(file(before))) == file(after)
    assert edit.apply(file(after)) == AlreadyThere()


@pytest.mark.parametrize("name", [each for each in WORKED_ON if not each.startswith("part")])
def test_a_file_is_as_it_was_when_the_edit_was_made_and_taken_back(name: str) -> None:
    before, after = (file(each) for each in WORKED_ON[name])
    assert text_of(edit_of(MANAGERS).revert(after)) == before


# What somebody's file lacks or has too much of, and what the help names.
UNCLEAR = {
    "the sibling is missing": (
        "audit: AuditManager",
        "auditing: AuditManager",
        ["`Managers` has no `audit`", "`work`"],
    ),
    "the sibling is there twice": (
        "    zoning: ZoningManager",
        "    audit: AuditManager",
        ["`Managers` has no `audit`", "`work`"],
    ),
    "the class is missing": ("class Managers", "class Management", ["no `Managers`", "`work`"]),
    "the class is there twice": ("def build() -> Managers:\n    return", "class Managers:\n    made =", ["Managers"]),
    "the call is there twice": ("return Managers(", "return Managers() or Managers(", ["more than one", "build"]),
    "another thing has its name": ("    zoning: Z", "    work: Work\n    zoning: Z", ["another `work`"]),
    "its import means another thing": ("acme.om.audit import", "acme.om.jobs import WorkManager,", ["acme.om.jobs"]),
    "it is no Python": ("class Managers:", "class Managers", ["no valid Python", "line"]),
}


@pytest.mark.parametrize(("old", "new", "told"), UNCLEAR.values(), ids=UNCLEAR)
def test_an_edit_cannot_be_made_and_says_why_when_its_place_is_not_clear(old: str, new: str, told: list[str]) -> None:
    edit = edit_of(MANAGERS)
    base = text_of(edit.revert(file(MANAGERS)))
    assert old in base
    outcome = edit.apply(base.replace(old, new, 1))
    assert isinstance(outcome, Cannot)
    assert all(each in outcome.help for each in ["om/src/acme/om/root.py", *told]), outcome.help


def test_an_edit_cannot_be_made_when_the_file_lacks_what_it_calls() -> None:
    relay = """
    from acme.om.work import WorkManager


    def is_work(row: str) -> bool:
        return row == "work"


    class Relay:
        hold: int
        work: WorkManager = is_work("row") and WorkManager()
    """
    edit = edit_of(relay)
    outcome = edit.apply("class Relay:\n    hold: int\n")
    assert isinstance(outcome, Cannot)
    assert "defines no `is_work`" in outcome.help


def test_an_import_that_others_use_too_is_added_when_it_is_missing() -> None:
    module = """
    from datetime import timedelta

    from acme.om.work import WorkManager

    HOLD = timedelta(seconds=1)
    WORK = WorkManager(timedelta(seconds=2))
    """
    edit = edit_of(module)
    assert text_of(edit.apply("HOLD = 1\n")) == (
        "from datetime import timedelta\n\nfrom acme.om.work import WorkManager\n\nHOLD = 1\n"
        "WORK = WorkManager(timedelta(seconds=2))\n"
    )


def test_a_test_of_the_same_name_stands_as_it_is() -> None:
    module = """
    from acme.om.work import WorkManager


    def test_one() -> None:
        assert True


    def test_two() -> None:
        assert WorkManager()
    """
    edit = edit_of(module, path=TEST_PATH)
    base = "def test_one() -> None:\n    assert True\n\n\ndef test_two() -> None:\n    assert 2\n"
    assert text_of(edit.apply(base)) == f"from acme.om.work import WorkManager\n\n{base}"


def test_what_was_changed_since_is_not_taken_back() -> None:
    edit = edit_of(MANAGERS)
    outcome = edit.revert(file(MANAGERS).replace("work: WorkManager", "work: WorkManager | None"))
    assert isinstance(outcome, Cannot)
    assert "another `work`" in outcome.help
