"""What a worker holds: each claimed item from its claim to its settlement, in one book that every task reads.

A claim enters the book with the claim statement's answer and leaves it only when its settlement is written or the
item is found to be somebody else's. So whatever is in the book when the process ends is what must still be
released.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, override
from uuid import UUID

from headrace.om.context import OpContext
from headrace.om.work.types.handler import Claim
from headrace.om.work.types.work_item import WorkItem, WorkKind

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
        self._item = item
        self._token = item.claim_token
        self._cancelled = asyncio.Event()
        self._ask = ask
        self._deadline = datetime.max.replace(tzinfo=UTC)

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
    def is_running(self) -> bool:
        """Whether the item's task has been started and has not ended."""
        return self.task is not None and not self.task.done()

    def begin(self, timeout: timedelta) -> None:
        """Note that the handler starts now and may take this long."""
        self._deadline = datetime.now(UTC) + timeout

    def interrupt(self, why: Interruption) -> None:
        """Cancel the item's task and say why; the first reason stays, except that a lost lease outranks it."""
        if self.settlement is not None or (self.interruption and why is not Interruption.LEASE_LOST):
            return
        already = self.interruption is not None
        self.interruption = why
        self._cancelled.set()
        if not already and self.task is not None:
            self.task.cancel()


class HeldClaims:
    """The book. Changed by the event loop alone; `renewable` and the notes may come from another thread."""

    def __init__(self) -> None:
        self._claims: dict[UUID, HeldClaim] = {}
        self._tokens: dict[UUID, UUID] = {}
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
            older = self._claims.get(self._tokens.get(claim.item.id, claim.token))
            if older is not None and older is not claim:
                older.is_lost = True
            self._claims[claim.token] = claim
            self._tokens[claim.item.id] = claim.token

    def note_started(self, claim: HeldClaim, task: asyncio.Task[None]) -> None:
        """Note the task that does the item's work."""
        claim.task = task
        self._running[claim.token] = claim
        self._recent_kinds.add(claim.item.kind)
        self.idle.clear()

    def note_ended(self, claim: HeldClaim) -> None:
        """Note that the task has ended; the claim stays in the book until it is settled."""
        self._running.pop(claim.token, None)
        if not self._running:
            self.idle.set()

    def remove(self, claim: HeldClaim) -> None:
        """Strike a claim out: it is settled, or another's; does nothing the second time."""
        with self._lock:
            self._claims.pop(claim.token, None)
            if self._tokens.get(claim.item.id) == claim.token:
                del self._tokens[claim.item.id]
        if self.on_removed is not None:
            self.on_removed()

    def renewable(self) -> tuple[HeldClaim, ...]:
        """Return the claims whose lease is to be kept, one for each item; from any thread."""
        with self._lock:
            return tuple(claim for claim in self._claims.values() if not claim.is_lost)

    def running(self) -> tuple[HeldClaim, ...]:
        """Return the claims whose item's task has not ended."""
        return tuple(self._running.values())

    def all(self) -> tuple[HeldClaim, ...]:
        """Return every claim in the book."""
        with self._lock:
            return tuple(self._claims.values())

    def running_kinds(self) -> tuple[WorkKind, ...]:
        """Return the kinds at work now, sorted; from any thread."""
        return tuple(sorted({claim.item.kind for claim in self.running()}))

    def take_recent_kinds(self) -> tuple[WorkKind, ...]:
        """Return the kinds that were at work since the last call, sorted."""
        recent = self._recent_kinds | set(self.running_kinds())
        self._recent_kinds = set()
        return tuple(sorted(recent))
