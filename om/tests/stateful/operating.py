"""Steps of who looks after a tenant's queue, in its own tenant and in another's."""

from typing import Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from headrace.om.context import OpContext
from headrace.om.work.exceptions import (
    WorkBundleInWrongState,
    WorkBundleNotFound,
    WorkItemInWrongState,
    WorkItemNotFound,
    WorkItemNotUnique,
)
from headrace.om.work.types.queries import RetriedItem, WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.stateful.model import Expected
from om.tests.stateful.promises import GONE, ONE_KEY, OWN_ROWS
from om.tests.stateful.shapes import LANES, places
from om.tests.stateful.stepping import QueueSteps, has_bundles, has_items, has_settled
from om.tests.stateful.world import BrokenPromise

STATE: Final = "What its state does not allow is refused, and changes nothing"

filters = st.builds(
    WorkFilter,
    lane=st.sampled_from((None, None, *LANES)),
    status=st.sampled_from((None, None, WorkStatus.DONE, WorkStatus.FAILED, WorkStatus.QUEUED)),
)


class OperatorSteps(QueueSteps):
    """Items and bundles are cancelled, retried and deleted, one by one and by filters."""

    @precondition(has_items)
    @rule(pick=places)
    def cancel(self, pick: int) -> None:
        item = self.any_item(pick)
        step = self.world.work.cancel(self.world.owner_of(item.org_id), item.asked.id)
        if item.is_settled:
            self.world.refused(STATE, WorkItemInWrongState, step)
            return
        self.world.run(step)
        self.world.model.cancel(item)

    @rule(org=places, where=filters, limit=st.integers(1, 3))
    def cancel_many(self, org: int, where: WorkFilter, limit: int) -> None:
        ctx = self.world.owner(org)
        wanted = [i for i in self._newest_first(ctx.org_id, where) if not i.is_settled][:limit]
        found = self.world.run(self.world.work.cancel_many(ctx, where, limit))
        if [item.id for item in found] != [item.asked.id for item in wanted]:
            raise BrokenPromise(GONE, f"cancelled {found}, expected {wanted}")
        for item in wanted:
            self.world.model.cancel(item)

    @precondition(has_settled)
    @rule(pick=places, of_any_state=st.integers(0, 3).map(lambda drawn: not drawn))
    def retry(self, pick: int, *, of_any_state: bool) -> None:
        item = self.any_item(pick) if of_any_state else self.any_settled(pick)
        step = self.world.work.retry(self.world.owner_of(item.org_id), item.asked.id)
        if not item.is_settled:
            self.world.refused(STATE, WorkItemInWrongState, step)
        elif self.world.model.alike(item):
            self.world.refused(ONE_KEY, WorkItemNotUnique, step)
        else:
            self.world.run(step)
            self._retried(item)

    @precondition(has_settled)
    @rule(org=places, where=filters, limit=st.integers(1, 5))
    def retry_many(self, org: int, where: WorkFilter, limit: int) -> None:
        ctx = self.world.owner(org)
        wanted = [i for i in self._newest_first(ctx.org_id, where) if i.is_settled][:limit]
        found = self.world.run(self.world.work.retry_many(ctx, where, limit))
        if [each.item_id for each in found] != [item.asked.id for item in wanted]:
            raise BrokenPromise(GONE, f"retried {found}, expected {wanted}")
        for item, each in zip(reversed(wanted), reversed(found), strict=True):
            self._retried_if_free(item, each)

    def _retried_if_free(self, item: Expected, answer: RetriedItem) -> None:
        """Of two that agree the older one is queued."""
        if answer.is_queued is bool(self.world.model.alike(item)):
            raise BrokenPromise(ONE_KEY, f"{answer} of {item}")
        if answer.is_queued:
            self._retried(item)

    def _retried(self, item: Expected) -> None:
        self.world.model.retry(item)
        self.world.begun_again.add(item.row)

    @precondition(has_items)
    @rule(pick=places)
    def delete_item(self, pick: int) -> None:
        item = self.any_item(pick)
        step = self.world.work.delete_item(self.world.owner_of(item.org_id), item.asked.id)
        if item.status == "claimed":
            self.world.refused(STATE, WorkItemInWrongState, step)
            return
        self.world.run(step)
        self._removed(item)

    @precondition(has_settled)
    @rule(org=places, where=filters, limit=st.integers(1, 3))
    def delete_finished(self, org: int, where: WorkFilter, limit: int) -> None:
        ctx = self.world.owner(org)
        gone = [i for i in self._newest_first(ctx.org_id, where)[::-1] if i.is_settled][:limit]
        num_gone = self.world.run(self.world.work.delete_finished(ctx, where, limit))
        if num_gone != len(gone):
            raise BrokenPromise(GONE, f"{num_gone} were deleted, expected {gone}")
        for item in gone:
            self._removed(item)

    def _removed(self, item: Expected) -> None:
        self.world.model.remove(item)
        self.world.begun_again.add(item.row)

    @precondition(has_bundles)
    @rule(pick=places)
    def delete_bundle(self, pick: int) -> None:
        bundle = self.any_bundle(pick)
        items = self.world.model.items_of(bundle)
        step = self.world.work.delete_bundle(self.world.owner_of(bundle.org_id), bundle.id)
        if any(item.status == "claimed" for item in items):
            self.world.refused(STATE, WorkBundleInWrongState, step)
            return
        self.world.run(step)
        self.world.model.remove_bundle(bundle)
        self.world.begun_again |= {item.row for item in items}

    @precondition(has_items)
    @rule(pick=places, how=st.sampled_from(("get_item", "cancel", "retry", "delete_item")))
    def touch_what_is_another_orgs(self, pick: int, how: str) -> None:
        item = self.any_item(pick)
        stranger = self._stranger_to(item.org_id)
        if (stranger.org_id, item.asked.id) not in self.world.model.items:
            step = getattr(self.world.work, how)(stranger, item.asked.id)
            self.world.refused(OWN_ROWS, WorkItemNotFound, step)
        if has_bundles(self):
            bundle = self.any_bundle(pick)
            step = self.world.work.delete_bundle(self._stranger_to(bundle.org_id), bundle.id)
            self.world.refused(OWN_ROWS, WorkBundleNotFound, step)

    def _stranger_to(self, org_id: UUID) -> OpContext:
        return next(ctx for ctx in self.world.ground.owners if ctx.org_id != org_id)

    def _newest_first(self, org_id: UUID, where: WorkFilter) -> list[Expected]:
        items = [i for i in self.world.model.items.values() if i.org_id == org_id and _matches(i, where)]
        return sorted(items, key=lambda item: item.asked.id, reverse=True)


def _matches(item: Expected, where: WorkFilter) -> bool:
    return where.lane in {None, item.asked.lane} and (where.status is None or where.status.value == item.status)
