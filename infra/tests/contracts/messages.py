"""Messages for tests, and a subscriber that keeps what it hears."""

import asyncio
from typing import override
from uuid import UUID

from headrace.infra.topics import (
    BundleSettled,
    EntityChanged,
    OutboxPending,
    TopicPayload,
    Topics,
    WorkAvailable,
    WorkEnd,
    WorkSettled,
)

ORG_ID = UUID(int=7)
ITEM_ID = UUID(int=8)


def available(num_items: int = 1, *, lane: str = "default", idempotency_key: str = "key") -> WorkAvailable:
    return WorkAvailable(idempotency_key=idempotency_key, lane=lane, num_items=num_items)


def settled(
    *, origin: str = "test", idempotency_key: str = "key", kind: str = "noop", num_ends: int = 1
) -> WorkSettled:
    end = WorkEnd(org_id=ORG_ID, item_id=ITEM_ID, kind=kind, origin=origin, outcome="done", will_retry=False)
    return WorkSettled(idempotency_key=idempotency_key, ends=(end,) * num_ends)


def bundle_settled(*, org_id: UUID = ORG_ID) -> BundleSettled:
    return BundleSettled(
        idempotency_key="key",
        org_id=org_id,
        bundle_id=ITEM_ID,
        kind="noop",
        origin="test",
        num_done=3,
        num_failed=0,
        num_cancelled=1,
    )


def entity_changed() -> EntityChanged:
    return EntityChanged(
        idempotency_key="key", org_id=ORG_ID, entity="webhook_endpoint", entity_id=ITEM_ID, change="updated"
    )


ONE_OF_EACH: dict[Topics, TopicPayload] = {
    Topics.WORK_AVAILABLE: available(),
    Topics.WORK_SETTLED: settled(),
    Topics.BUNDLE_SETTLED: bundle_settled(),
    Topics.ENTITY_CHANGED: entity_changed(),
    Topics.OUTBOX_PENDING: OutboxPending(idempotency_key="key"),
}


class Ear:
    """Remembers messages in the order in which they came."""

    def __init__(self) -> None:
        self.heard: list[TopicPayload] = []

    async def __call__(self, payload: TopicPayload) -> None:
        self.heard.append(payload)


class StuckEar:
    """Never comes back from its first message."""

    def __init__(self) -> None:
        self.num_begun = 0
        self.was_cancelled = False

    async def __call__(self, _payload: TopicPayload) -> None:
        self.num_begun += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


class FailingEar(Ear):
    """Remembers a message and raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    @override
    async def __call__(self, payload: TopicPayload) -> None:
        await super().__call__(payload)
        raise self._error
