"""What a worker holds: each claimed item from its claim to its settlement, in one book that every task reads.

A claim enters the book with the claim statement's answer and leaves it only when its settlement is written or the
item is found to be somebody else's. So whatever is in the book when the process ends is what must still be
released.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, override
from uuid import UUID

from headrace.om.context import OpContext
from headrace.om.work.types.handler import Claim
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem

if TYPE_CHECKING:
    from headrace.om.work.types.settlement import Settlement


class Interruption(StrEnum):
    """Why the worker cancelled an item's task."""

    LEASE_LOST = "lease_lost"
    """The queue said that the token no longer holds the item: nothing may be written."""
    LEASE_LAPSED = "lease_lapsed"
    """No renewal got through for half the lease: the item may soon be another's."""
    CANCEL_REQUESTED = "cancel_requested"
    DRAINING = "draining"
    PROCESS_ENDED = "process_ended"
    """The claim loop was cut short: another task of the process failed, or it had to end at once."""


class HeldClaim(Claim):
    """One claim: the handler's view of it, and the worker's notes on it.

    Args:
        ctx: What the work runs under.
        item: As claimed; carries a claim token.
        sent_at: The clock's reading before the claim was sent; the lease is at least that old.
        ask: Asks the queue whether the claim holds.
    """

    def __init__(
        self, ctx: OpContext, item: WorkItem, sent_at: float, ask: Callable[["HeldClaim"], Awaitable[bool]]
    ) -> None:
        if item.claim_token is None:
            raise ValueError(f"item {item.id} carries no claim token: only what a claim returned can be held")
        self.ctx = ctx
        self.renewed_sent_at = sent_at
        self.task: asyncio.Task[None] | None = None
        self.settlement: Settlement | None = None
        self.interruption: Interruption | None = None
        self.is_lost = False
        self.is_cancel_requested = False
        self.has_begun = False
        """Whether the handler was called."""
        self._item = item
        self._token = item.claim_token
        self._cancelled = asyncio.Event()
        self._ask = ask
        self._deadline = datetime.max.replace(tzinfo=UTC)
        self._ends_at: float | None = None

    @property
    @override
    def item(self) -> WorkItem:
        return self._item

    @property
    @override
    def token(self) -> UUID:
        return self._token

    @property
    @override
    def deadline(self) -> datetime:
        return self._deadline

    @property
    @override
    def cancelled(self) -> asyncio.Event:
        return self._cancelled

    @override
    async def still_held(self) -> bool:
        return not self.is_lost and await self._ask(self)

    @property
    def row(self) -> tuple[UUID, UUID]:
        """Which row is claimed: another org may have an item of the same id."""
        return self.ctx.org_id, self._item.id

    @property
    def identifiers(self) -> dict[str, UUID | None]:
        """What every log line about the item carries; a line outside of its task takes it as `extra`."""
        return {
            "request_id": self.ctx.request_id,
            "caused_by_request_id": self.ctx.caused_by_request_id,
            "org_id": self.ctx.org_id,
            "item_id": self._item.id,
        }

    @property
    def is_running(self) -> bool:
        """Whether the item's task has been started and has not ended."""
        return self.task is not None and not self.task.done()

    @property
    def overdue(self) -> timedelta:
        """How long the handler has gone on after its timeout; zero while it has time, and once its task has ended."""
        if self._ends_at is None or not self.is_running:
            return timedelta(0)
        return timedelta(seconds=max(0.0, time.monotonic() - self._ends_at))

    def begin(self, timeout: timedelta) -> None:
        """Note that the handler starts now and may take this long."""
        self.has_begun = True
        self._deadline = datetime.now(UTC) + timeout
        self._ends_at = time.monotonic() + timeout.total_seconds()

    def interrupt(self, why: Interruption) -> bool:
        """Cancel the item's task and say why; the first reason stays, except that a lost lease outranks it.

        Returns:
            Whether the reason is the item's from now on, and was not before.
        """
        already = self.interruption is not None
        if self.settlement is not None or self.interruption is why:
            return False
        if already and why is not Interruption.LEASE_LOST:
            return False
        self.interruption = why
        self._cancelled.set()
        if not already and self.task is not None:
            self.task.cancel()
        return True


class HeldClaims:
    """The book. Changed by the event loop alone; read from any thread."""

    def __init__(self) -> None:
        self._claims: dict[UUID, HeldClaim] = {}
        self._tokens: dict[tuple[UUID, UUID], UUID] = {}
        self._running: dict[UUID, HeldClaim] = {}
        self._recent_kinds: set[WorkKind] = set()
        self._lock = threading.Lock()
        self.idle = asyncio.Event()
        """Set while no item's task runs."""
        self.idle.set()
        self.on_removed: Callable[[], None] | None = None
        """Called after a claim was struck out, in the event loop."""

    @property
    def num_held(self) -> int:
        """Claims in the book, whether running or waiting for their settlement to be written."""
        return len(self._claims)

    @property
    def num_running(self) -> int:
        """Items whose task has not ended."""
        return len(self._running)

    @property
    def num_unsettled(self) -> int:
        """Items whose task has ended and whose settlement is not written yet."""
        return len(self._claims) - len(self._running)

    def add(self, claim: HeldClaim) -> None:
        """Enter a claim. An older claim of the same item is lost: the newer token proves it."""
        with self._lock:
            older = self._claims.get(self._tokens.get(claim.row, claim.token))
            if older is not None and older is not claim:
                older.is_lost = True
            self._claims[claim.token] = claim
            self._tokens[claim.row] = claim.token

    def note_started(self, claim: HeldClaim, task: asyncio.Task[None]) -> None:
        """Note the task that does the item's work."""
        claim.task = task
        with self._lock:
            self._running[claim.token] = claim
        self._recent_kinds.add(claim.item.kind)
        self.idle.clear()

    def note_ended(self, claim: HeldClaim) -> None:
        """Note that the task has ended; the claim stays in the book until it is settled."""
        with self._lock:
            self._running.pop(claim.token, None)
        if not self._running:
            self.idle.set()

    def remove(self, claim: HeldClaim) -> None:
        """Strike a claim out: it is settled, or another's; does nothing the second time."""
        with self._lock:
            self._claims.pop(claim.token, None)
            if self._tokens.get(claim.row) == claim.token:
                del self._tokens[claim.row]
        if self.on_removed is not None:
            self.on_removed()

    def renewable(self) -> tuple[HeldClaim, ...]:
        """Return the claims whose lease is to be kept, one for each row."""
        with self._lock:
            return tuple(claim for claim in self._claims.values() if not claim.is_lost)

    def running(self) -> tuple[HeldClaim, ...]:
        """Return the claims whose item's task has not ended."""
        with self._lock:
            return tuple(self._running.values())

    def longest_overdue(self) -> timedelta:
        """Return how long the item that most outlasts its timeout has done so; zero where none does."""
        return max((claim.overdue for claim in self.running()), default=timedelta(0))

    def num_overdue(self) -> int:
        """Count the items whose code goes on after their timeout."""
        return sum(claim.overdue > timedelta(0) for claim in self.running())

    def all(self) -> tuple[HeldClaim, ...]:
        """Return every claim in the book."""
        with self._lock:
            return tuple(self._claims.values())

    def running_kinds(self) -> tuple[WorkKind, ...]:
        """Return the kinds at work now, sorted."""
        return tuple(sorted({claim.item.kind for claim in self.running()}))

    def take_recent_kinds(self) -> tuple[WorkKind, ...]:
        """Return the kinds that were at work since the last call, sorted; for one caller, in the event loop."""
        recent = self._recent_kinds | set(self.running_kinds())
        self._recent_kinds = set()
        return tuple(sorted(recent))
