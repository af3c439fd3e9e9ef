"""Work that a test does not care for: checked like any other, and then dropped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import override
from uuid import UUID

from headrace.om.testing.guard import refuse_outside_of_tests
from headrace.om.work.diversion import WorkDiversion, diverting
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem

type Ignored = WorkKind | Callable[[WorkItem], bool]
"""A kind, or a function that says of an item whether it is meant."""


@contextmanager
def ignore_work(what: Ignored | None = None) -> Iterator[None]:
    """Drop items that are enqueued one by one or in bulk; bundles are left alone.

    Args:
        what: Only items of this kind, or for which this returns true; all of them when None.

    Raises:
        OutsideOfTests: No test is running.
    """
    refuse_outside_of_tests("ignore_work")
    with diverting(_Ignoring(_predicate(what), lambda _: False)):
        yield


@contextmanager
def ignore_bundles(what: Callable[[WorkBundle], bool] | None = None) -> Iterator[None]:
    """Drop bundles with their items, and nothing else.

    Args:
        what: Only bundles for which this returns true; all of them when None.

    Raises:
        OutsideOfTests: No test is running.
    """
    refuse_outside_of_tests("ignore_bundles")
    with diverting(_Ignoring(lambda _: False, what or (lambda _: True))):
        yield


def _predicate(what: Ignored | None) -> Callable[[WorkItem], bool]:
    if what is None:
        return lambda _: True
    return (lambda item: item.kind == what) if isinstance(what, WorkKind) else what


class _Ignoring(WorkDiversion):
    def __init__(self, items: Callable[[WorkItem], bool], bundles: Callable[[WorkBundle], bool]) -> None:
        self._takes_item = items
        self._takes_bundle = bundles

    @override
    async def take_items(self, org_id: UUID, items: Sequence[WorkItem]) -> Mapping[UUID, WorkItem]:
        return {item.id: item for item in items if self._takes_item(item)}

    @override
    async def take_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle | None:
        return bundle if self._takes_bundle(bundle) else None
