"""Work that a test asserts on: checked like any other, and then kept in a list."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import override
from uuid import UUID

from headrace.om.testing.guard import refuse_outside_of_tests
from headrace.om.work.diversion import WorkDiversion, diverting
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem


class CapturedWork:
    """What was enqueued, in that order."""

    def __init__(self) -> None:
        self.items: list[WorkItem] = []
        """Every item, those of bundles among them."""
        self.bundles: list[WorkBundle] = []

    def of_kind(self, kind: WorkKind) -> list[WorkItem]:
        """Return the items of one kind."""
        return [item for item in self.items if item.kind == kind]

    def of_bundle(self, bundle: WorkBundle) -> list[WorkItem]:
        """Return the items of one bundle."""
        return [item for item in self.items if item.bundle_id == bundle.id]


@contextmanager
def captured_work() -> Iterator[CapturedWork]:
    """Keep what the body enqueues, bundles too, instead of storing it; yield where it is kept.

    Nothing is remembered as in the queue: a key that comes twice gives two items.

    Raises:
        OutsideOfTests: No test is running.
    """
    refuse_outside_of_tests("captured_work")
    captured = CapturedWork()
    with diverting(_Capturing(captured)):
        yield captured


class _Capturing(WorkDiversion):
    def __init__(self, captured: CapturedWork) -> None:
        self._captured = captured

    @override
    async def take_items(self, org_id: UUID, items: Sequence[WorkItem]) -> Mapping[UUID, WorkItem]:
        self._captured.items += items
        return {item.id: item for item in items}

    @override
    async def take_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle | None:
        self._captured.bundles.append(bundle)
        self._captured.items += items
        return bundle
