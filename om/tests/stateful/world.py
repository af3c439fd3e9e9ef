"""What one example of the machine sees: the manager, the model, the rows as they are and as they were."""

from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, override
from uuid import UUID

from headrace.om.base import FrozenMapping
from headrace.om.context import OpContext
from headrace.om.exceptions import PlatformException
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.types.bundle import BundleFilter, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.settlement import Settlement
from headrace.om.work.types.work_item import WorkItem
from om.tests.stateful.ground import Ground
from om.tests.stateful.holding_back import Controls
from om.tests.stateful.model import Asked, Expected, Key, QueueModel

PAGE: Final = 1000
UNIQUE_FIELD: Final = {WorkKind.NOOP: "note", WorkKind.DELIVER_WEBHOOK: "endpoint_id"}
SOMEBODY: Final = UUID(int=7)


class BrokenPromise(AssertionError):  # noqa: N818 - it says what it is
    """The queue does not do what it promises."""

    def __init__(self, promise: str, found: object) -> None:
        super().__init__(f"{promise}: {found}")
        self.promise = promise

    @override
    def __reduce__(self) -> tuple[type["BrokenPromise"], tuple[str, object]]:
        return BrokenPromise, (self.promise, str(self))


@dataclass(slots=True)
class Claim:
    """One claim that a worker was given; it is kept after it ended, for whoever writes late."""

    ctx: OpContext
    item: WorkItem
    written: Settlement | None = None

    @property
    def row(self) -> Key:
        return self.ctx.org_id, self.item.id

    @property
    def token(self) -> UUID:
        assert self.item.claim_token is not None
        return self.item.claim_token


@dataclass(slots=True)
class Rows:
    """Every row of every org, as the org's own operator sees it."""

    items: dict[Key, WorkItem] = field(default_factory=dict)
    bundles: dict[Key, WorkBundle] = field(default_factory=dict)


@dataclass(slots=True)
class World:
    """One example's queue, beside the model of it."""

    ground: Ground
    work: WorkManagerImpl
    model: QueueModel = field(default_factory=QueueModel)
    controls: Controls = field(default_factory=Controls)
    claims: list[Claim] = field(default_factory=list)
    before: Rows = field(default_factory=Rows)
    rows: Rows = field(default_factory=Rows)
    begun_again: set[Key] = field(default_factory=set)
    """What the last step retried, deleted or purged, as far as it may change what had settled."""
    gone: set[Key] = field(default_factory=set)
    """What was ever deleted or purged."""
    met: set[Key] = field(default_factory=set)
    """What was due, and left, when somebody claimed where it waits."""
    skew: timedelta = timedelta(0)
    """How far the workers' clocks are off."""
    num_ids: int = 0
    waits: dict[tuple[str, frozenset[str], UUID], frozenset[UUID]] = field(default_factory=dict)
    """By lane, kinds and org: which orgs had a turn since it has been waiting for its own."""

    def run[Result](self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Do one step of the queue."""
        return self.ground.run(coroutine)

    def owner(self, place: int) -> OpContext:
        """Return one of the orgs' owners."""
        return self.ground.owners[place % len(self.ground.owners)]

    def owner_of(self, org_id: UUID) -> OpContext:
        """Return the org's owner."""
        return next(ctx for ctx in self.ground.owners if ctx.org_id == org_id)

    def sweepers(self) -> dict[UUID, OpContext]:
        """Return the contexts of the machine's orgs that sweeps run under."""
        return {ctx.org_id: self.ground.sweepers[ctx.org_id] for ctx in self.ground.owners}

    def worker_clock(self) -> datetime:
        """Return what the workers' clocks say, which are off."""
        return self.ground.backend.now() + self.skew

    def new_id(self) -> UUID:
        """Return an id as a worker makes it, by a clock that may be off."""
        self.num_ids += 1
        milliseconds = int(self.worker_clock().timestamp() * 1000)
        return UUID(int=(milliseconds << 80) | (7 << 76) | (0b10 << 62) | self.num_ids)

    def item(self, asked: Asked) -> WorkItem:
        """Return the item that says what is asked for."""
        kind = WorkKind(asked.kind)
        made_at = self.worker_clock()
        return WorkItem(
            id=asked.id,
            kind=kind,
            lane=asked.lane,
            origin="machine",
            priority=asked.priority,
            max_attempts=asked.max_attempts,
            idempotency_key=asked.key,
            unique_for=None if asked.unique is None else (UNIQUE_FIELD[kind],),
            concurrency_key=asked.concurrency_key,
            ordering_key=asked.ordering_key,
            available_at=self.ground.backend.now() + asked.delay if asked.delay else None,
            payload=_payload(kind, asked.unique),
            created_at=made_at,
            updated_at=made_at,
        )

    def is_held(self, claim: Claim) -> bool:
        """Return whether the claim's token still holds its item, by the model."""
        item = self.model.items.get(claim.row)
        return item is not None and item.token == claim.token

    def is_held_by_another(self, claim: Claim) -> bool:
        """Return whether another claim holds the item, by the model."""
        item = self.model.items.get(claim.row)
        return item is not None and item.token not in {None, claim.token}

    def expected(self, claim: Claim) -> Expected:
        """Return the item of a claim that is held."""
        return self.model.items[claim.row]

    def read(self) -> Rows:
        """Return the rows as they are now, through each org's own context."""
        rows = Rows()
        for ctx in self.ground.owners:
            items = self.run(self.work.get_items(ctx, WorkFilter(), PAGE))
            bundles = self.run(self.work.get_bundles(ctx, BundleFilter(), PAGE))
            rows.items |= {(ctx.org_id, item.id): item for item in items}
            rows.bundles |= {(ctx.org_id, bundle.id): bundle for bundle in bundles}
        return rows

    def refused[Error: PlatformException](
        self, promise: str, error: type[Error], coroutine: Coroutine[object, object, object]
    ) -> None:
        """Hold that a step is refused with this error, and that it changes no row."""
        before = self.read()
        try:
            answer = self.run(coroutine)
        except error:
            if self.read() != before:
                raise BrokenPromise(promise, f"it was refused with {error.__name__}, and changed a row") from None
            return
        except PlatformException as other:
            raise BrokenPromise(promise, f"expected {error.__name__}, got {other!r}") from other
        raise BrokenPromise(promise, f"expected {error.__name__}, got {answer!r}")

    def advance(self, duration: timedelta) -> None:
        """Let time pass, for the queue and for the model."""
        self.run(self.ground.backend.advance(duration))
        self.model.now += duration


def _payload(kind: WorkKind, unique: str | None) -> FrozenMapping:
    value: Any = unique or ""
    if kind is WorkKind.DELIVER_WEBHOOK:
        value = str(UUID(int=sum(value.encode())))
        return FrozenMapping({"message_id": str(SOMEBODY), "endpoint_id": value})
    return FrozenMapping({"note": value})
