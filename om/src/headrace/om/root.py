"""Where the object model is put together: all managers over one storage and one set of process toolkits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from headrace.infra.cache import CacheInterface
from headrace.infra.secrets import SecretsInterface
from headrace.infra.topics import TopicsInterface
from headrace.infra.topics.wakeups import DEFAULT_WINDOW, CoalescedWakeups
from headrace.om.audit import AuditManagerInterface
from headrace.om.audit.impl.manager import AuditManagerImpl
from headrace.om.events import EventsManagerInterface
from headrace.om.events.impl.manager import EventsManagerImpl
from headrace.om.outbox import OutboxRelayInterface
from headrace.om.outbox.impl.relay import OutboxRelayImpl
from headrace.om.paging import DEFAULT_SWEEP_LIMIT
from headrace.om.storage.root import StorageInterface
from headrace.om.tenancy import TenancyManagerInterface
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.rules import DEFAULT_PRINCIPAL_TTL
from headrace.om.webhooks import WebhooksManagerInterface
from headrace.om.webhooks.impl.manager import WebhooksManagerImpl
from headrace.om.work import WorkManagerInterface
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.rules import MAX_CRASHES
from headrace.om.work.scheduling import DEFAULT_TICK_LIMIT
from headrace.om.work.types.kinds import WorkKind


def ignore_dead_letter(_kind: WorkKind) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class Infra:
    """The process toolkits that managers use. Making one opens nothing.

    Attributes:
        cache: Values that may be lost.
        topics: Messages that may be lost.
        secrets: Values behind secret references.
        wakeups: Coalesces the wake-ups of lanes; over `topics`.
        on_dead_letter: Called once for each dead letter, for a metric; must not raise.
    """

    cache: CacheInterface
    topics: TopicsInterface
    secrets: SecretsInterface
    wakeups: CoalescedWakeups
    on_dead_letter: Callable[[WorkKind], None] = field(default=ignore_dead_letter)

    @classmethod
    def over(
        cls,
        *,
        cache: CacheInterface,
        topics: TopicsInterface,
        secrets: SecretsInterface,
        wakeup_window: timedelta = DEFAULT_WINDOW,
        on_dead_letter: Callable[[WorkKind], None] = ignore_dead_letter,
    ) -> "Infra":
        """Return the toolkits with wake-ups over the given topics, at most one a window for each lane."""
        return cls(cache, topics, secrets, CoalescedWakeups(topics, window=wakeup_window), on_dead_letter)

    async def start(self) -> None:
        """Start each of them; succeeds while their backends are away. Safe to call twice."""
        await self.cache.start()
        await self.topics.start()
        await self.wakeups.start()

    async def close(self) -> None:
        """Close them, the last started first: waiting wake-ups are still published. Safe to call twice."""
        await self.wakeups.close()
        await self.topics.close()
        await self.cache.close()


@dataclass(frozen=True, slots=True)
class Managers:
    """Every namespace's manager, by interface."""

    tenancy: TenancyManagerInterface
    audit: AuditManagerInterface
    events: EventsManagerInterface
    work: WorkManagerInterface
    outbox: OutboxRelayInterface
    webhooks: WebhooksManagerInterface


@dataclass(frozen=True, slots=True)
class ManagerOptions:
    """What a process may choose about its managers.

    Attributes:
        principal_ttl: For how long the claim path trusts what it learned about an org and a user; zero asks each time.
        max_crashes: Claims in a row that may end in a passed lease before an item becomes a dead letter; 1 or more.
        sweep_limit: Records of one tenant that one call of the sweep moves at most; 1 or more.
        tick_limit: Ticks of one schedule that one pass enqueues at most; 1 or more.
        tells_settlements: Whether settled batches are told of even where it is not known that somebody listens.
    """

    principal_ttl: timedelta = DEFAULT_PRINCIPAL_TTL
    max_crashes: int = MAX_CRASHES
    sweep_limit: int = DEFAULT_SWEEP_LIMIT
    tick_limit: int = DEFAULT_TICK_LIMIT
    tells_settlements: bool = False


DEFAULT_OPTIONS: Final = ManagerOptions()


def build_managers(storage: StorageInterface, infra: Infra, options: ManagerOptions = DEFAULT_OPTIONS) -> Managers:
    """Return all managers, each given what it needs by interface; opens nothing."""
    tenancy = TenancyManagerImpl(storage.get_tenancy_storage(), principal_ttl=options.principal_ttl)
    audit = AuditManagerImpl(storage.get_audit_storage())
    events = EventsManagerImpl(storage.get_events_storage())
    parts = WorkParts(
        storage.get_work_storage(),
        tenancy,
        audit,
        infra.wakeups,
        infra.topics,
        infra.on_dead_letter,
        max_crashes=options.max_crashes,
        sweep_limit=options.sweep_limit,
        tick_limit=options.tick_limit,
        tells_settlements=options.tells_settlements,
    )
    work = WorkManagerImpl(parts)
    outbox = OutboxRelayImpl(storage.get_outbox_storage(), events, infra.topics, work)
    webhooks = WebhooksManagerImpl(storage.get_webhooks_storage(), outbox, audit, sweep_limit=options.sweep_limit)
    return Managers(tenancy=tenancy, audit=audit, events=events, work=work, outbox=outbox, webhooks=webhooks)
