"""Messages between processes that may be lost: wake-ups and news of what happened. The truth stays in the database."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Topics(StrEnum):
    """What there is to hear; the value is part of channel names and never changes once released."""

    WORK_AVAILABLE = "work_available"
    WORK_SETTLED = "work_settled"
    BUNDLE_SETTLED = "bundle_settled"
    ENTITY_CHANGED = "entity_changed"
    OUTBOX_PENDING = "outbox_pending"


class TopicPayload(BaseModel):
    """What every message carries. Identifiers and words for machines only, never a personal value.

    Fields that a receiver does not know are ignored, so that releases can be mixed.

    Attributes:
        idempotency_key: Set by the producer; the same for every publish of the same news, so that a consumer can tell
            a repetition.
        truncated: True when a text of this message was cut to fit; read the record instead of the message then.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    idempotency_key: str
    truncated: bool = False


class TenantPayload(TopicPayload):
    """A message about something that belongs to a tenant.

    Attributes:
        org_id: The tenant.
    """

    org_id: UUID


class WorkAvailable(TopicPayload):
    """There may be work in a lane: look now instead of at the next poll.

    Attributes:
        lane: The lane.
        num_items: How many items were enqueued since the last message, for operators; 1 or more.
    """

    lane: str
    num_items: int = Field(ge=1)


class WorkEnd(BaseModel):
    """How an attempt at one work item ended.

    Attributes:
        org_id: The tenant.
        item_id: The work item.
        kind: Its kind.
        origin: Who asked for it.
        outcome: How the attempt ended.
        will_retry: Whether the item is queued again.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    org_id: UUID
    item_id: UUID
    kind: str
    origin: str
    outcome: str
    will_retry: bool


MAX_ENDS: Final = 16
"""Ends of one message: so many fit whatever their texts, which are cut where they must be."""


class WorkSettled(TopicPayload):
    """Attempts at work items ended, and were written together; of any tenants.

    Attributes:
        ends: How each ended; 1 to `MAX_ENDS`.
    """

    ends: tuple[WorkEnd, ...] = Field(min_length=1, max_length=MAX_ENDS)


class BundleSettled(TenantPayload):
    """The last open item of a bundle settled.

    Attributes:
        bundle_id: The bundle.
        kind: The bundle's kind.
        origin: Who asked for it.
        num_done: Items that were done.
        num_failed: Items that failed for good.
        num_cancelled: Items that were cancelled.
    """

    bundle_id: UUID
    kind: str
    origin: str
    num_done: int = Field(ge=0)
    num_failed: int = Field(ge=0)
    num_cancelled: int = Field(ge=0)


class EntityChanged(TenantPayload):
    """A record was written.

    Attributes:
        entity: The type of the record.
        entity_id: The record.
        change: What happened to it.
    """

    entity: str
    entity_id: UUID
    change: str


class OutboxPending(TopicPayload):
    """There may be outbox rows to relay: look now instead of at the next sweep."""


TOPIC_PAYLOADS: Final[Mapping[Topics, type[TopicPayload]]] = MappingProxyType(
    {
        Topics.WORK_AVAILABLE: WorkAvailable,
        Topics.WORK_SETTLED: WorkSettled,
        Topics.BUNDLE_SETTLED: BundleSettled,
        Topics.ENTITY_CHANGED: EntityChanged,
        Topics.OUTBOX_PENDING: OutboxPending,
    }
)
"""The one payload type of each topic."""

type TopicCallback = Callable[[TopicPayload], Awaitable[None]]
type Unsubscribe = Callable[[], Awaitable[None]]


class TopicsInterface(ABC):
    """Publish and subscribe, best effort and at most once.

    Every subscriber of every process hears a message, the publisher's own process included. A message published while
    a receiver's connection is down is lost to it: whoever listens also looks by itself from time to time.
    """

    @abstractmethod
    async def start(self) -> None:
        """Begin to publish and to listen; does nothing when started already.

        Succeeds while the backend is away: connecting goes on in the background for ever.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Stop both, cancel running callbacks and wait for them, give back connections; may be called twice."""
        ...

    @abstractmethod
    async def publish(self, topic: Topics, payload: TopicPayload) -> bool:
        """Send a message; bounded in time and never raises for a fault of the backend.

        Texts are cut, longest first, where the message would not fit otherwise (``truncated`` is set then); a key that
        does not fit is replaced by its digest. Lone surrogates are replaced.

        Args:
            topic: The topic.
            payload: An object of the topic's type in ``TOPIC_PAYLOADS``.

        Returns:
            True when the backend took the message, whoever hears it; False when it did not, or when not started.

        Raises:
            TypeError: The payload is not of the topic's type; nothing was sent.
        """
        ...

    @abstractmethod
    async def subscribe(self, topic: Topics, callback: TopicCallback) -> Unsubscribe:
        """Call back for every message heard from now on, one at a time and in the order heard.

        Returns once the backend confirmed that this process hears the topic, or after a bounded wait where it is away
        or not started; the subscription stands either way and is made good by the background. Each subscription has a
        bounded queue of its own: a callback that is slow loses its oldest messages, one that raises is logged and
        called for the next message, and neither holds up others.

        Returns:
            A function that ends the subscription: a running callback is cancelled, unless it is the caller itself, and
            none begins afterwards. May be called twice.
        """
        ...

    @abstractmethod
    def has_listeners(self, topic: Topics) -> bool | None:
        """Tell whether a publish would be heard.

        Returns:
            True where somebody listens for certain, in this process; False where it is certain that nobody does, in
            any process; None where another process may listen or not.
        """
        ...

    @abstractmethod
    def last_heard_age(self) -> timedelta | None:
        """Tell how old the last proof is that messages arrive here: the listener's own message, heard by itself.

        Returns:
            The age; None as long as there was no proof since ``start``, and after ``close``.
        """
        ...

    @abstractmethod
    def num_dropped(self) -> int:
        """Count the messages that full queues and unreadable texts have cost since this object was made."""
        ...

    @abstractmethod
    def describe(self) -> str:
        """Name the backend in one line for the boot log, without credentials."""
        ...
