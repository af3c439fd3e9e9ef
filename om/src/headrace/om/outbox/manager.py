"""What the relay promises: whatever a core write asked for happens, at least once and with one effect."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from headrace.om.context import RequestContext
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.outbox.types.relay_report import OutboxGauges, RelayReport


class OutboxRelayInterface(ABC):
    """Carries outbox rows on: an entity change to the event feed and its topic, work to the queue.

    A row is marked done only when its side effects happened, and the effect is keyed by the row's id, so that
    rows which are relayed twice, or by two processes at once, leave one. Every method is an operation without a
    principal: who asked stands in the row.
    """

    @abstractmethod
    async def relay_rows(self, org_id: UUID, rows: Sequence[OutboxRow]) -> None:
        """Relay rows that the caller's request has just committed; never raises but when cancelled.

        What could not be relayed, or was being relayed elsewhere, is left to the sweep.
        """
        ...

    @abstractmethod
    async def relay_pending(self, rctx: RequestContext, limit: int) -> RelayReport:
        """Relay up to `limit` (1-1000) due rows, shared out among the tenants that wait, their oldest first.

        A row that cannot be relayed or read is tried again after a growing delay and holds up no other row.

        Returns:
            What became of them. All zero: nothing was due. Call again while as many as `limit` come back.

        Raises:
            Unavailable: The outbox itself did not answer; rows that were taken come back after their hold.
            ValidationFailed: The limit is out of range.
        """
        ...

    @abstractmethod
    async def purge_done(self, rctx: RequestContext, older_than: timedelta, limit: int) -> int:
        """Remove rows done longer ago than that, at most `limit` (1-1000), oldest first; return how many.

        Raises:
            Unavailable: The outbox did not answer; nothing was removed.
            ValidationFailed: The limit, or the age (0 to 36,500 days), is out of range.
        """
        ...

    @abstractmethod
    async def read_gauges(self, rctx: RequestContext) -> OutboxGauges:
        """Return how far the relay is behind, across tenants.

        Raises:
            Unavailable: The outbox did not answer.
        """
        ...
