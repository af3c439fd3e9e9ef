"""Telling other processes how work ended: best effort, in few messages, and never in the way of a settlement."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched
from uuid import UUID

from headrace.infra.topics import MAX_ENDS, BundleSettled, TopicPayload, Topics, TopicsInterface, WorkEnd, WorkSettled
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.settlement import Settled, Settlement
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """One attempt that ended.

    Attributes:
        org_id: The tenant.
        what: The item, or the settlement that names it.
        outcome: How the attempt ended.
        will_retry: Whether the item is queued again.
        bundle_id: The bundle that may have settled with it.
    """

    org_id: UUID
    what: WorkItem | Settlement
    outcome: str
    will_retry: bool
    bundle_id: UUID | None

    @classmethod
    def by(cls, org_id: UUID, settlement: Settlement, settled: Settled) -> "Ended":
        """Return what a recorded settlement ended."""
        was_cancelled = settled.status is WorkStatus.CANCELLED
        outcome = WorkStatus.CANCELLED if was_cancelled else settlement.outcome
        return cls(org_id, settlement, outcome, settled.status not in SETTLED_STATUSES, settled.settled_bundle_id)

    @classmethod
    def of(cls, org_id: UUID, item: WorkItem, outcome: str) -> "Ended":
        """Return what was ended by somebody else than the holder of a claim: an operator, or the sweep.

        Args:
            org_id: The tenant.
            item: As it stands afterwards.
            outcome: What to call it where the item is queued again.
        """
        if item.status in SETTLED_STATUSES:
            return cls(org_id, item, item.status, will_retry=False, bundle_id=item.bundle_id)
        return cls(org_id, item, outcome, will_retry=True, bundle_id=None)

    @property
    def key(self) -> str:
        """The same whenever the same end is told of."""
        if isinstance(self.what, Settlement):
            return str(self.what.settlement_id)
        return f"{self.what.id}:{self.what.updated_at.isoformat()}"

    def message(self) -> WorkEnd:
        """Return what others are told."""
        return WorkEnd(
            org_id=self.org_id,
            item_id=self.what.item_id if isinstance(self.what, Settlement) else self.what.id,
            kind=self.what.kind,
            origin=self.what.origin,
            outcome=self.outcome,
            will_retry=self.will_retry,
        )


class WorkNews:
    """Publishes ends. Nothing here raises, and a message that is lost costs who waits for it one poll.

    Args:
        topics: Where to.
        tells_settlements: Whether each settled batch is told of even where it is not known that somebody listens.
    """

    def __init__(self, topics: TopicsInterface, *, tells_settlements: bool) -> None:
        self.topics = topics
        self._tells_settlements = tells_settlements

    @property
    def wants_ends(self) -> bool:
        """Whether ends are to be told: somebody listens, or the setting asks for it."""
        return self._tells_settlements or bool(self.topics.has_listeners(Topics.WORK_SETTLED))

    async def tell_ends(self, ends: Sequence[Ended]) -> None:
        """Tell how attempts ended, several in one message."""
        for page in batched(ends, MAX_ENDS):
            key = f"{page[0].key}+{len(page) - 1}"
            message = WorkSettled(idempotency_key=key, ends=tuple(each.message() for each in page))
            await self._publish(Topics.WORK_SETTLED, message)

    async def tell_bundle(self, org_id: UUID, bundle: WorkBundle) -> None:
        """Tell that a bundle settled, unless it is certain that nobody listens."""
        if self.topics.has_listeners(Topics.BUNDLE_SETTLED) is False:
            return
        message = BundleSettled(
            idempotency_key=f"{bundle.id}:{bundle.settled_at}",
            org_id=org_id,
            bundle_id=bundle.id,
            kind=bundle.kind,
            origin=bundle.origin,
            num_done=max(0, bundle.num_done),
            num_failed=max(0, bundle.num_failed),
            num_cancelled=max(0, bundle.num_cancelled),
        )
        await self._publish(Topics.BUNDLE_SETTLED, message)

    async def _publish(self, topic: Topics, payload: TopicPayload) -> None:
        try:
            await self.topics.publish(topic, payload)
        except Exception:
            logger.exception("a message of %s was lost", topic)
