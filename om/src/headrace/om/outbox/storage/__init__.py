"""Where outbox rows are kept until they are relayed."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from headrace.om.outbox.rules import RelayBackoff
from headrace.om.outbox.types.outbox_row import OutboxRow, TakenRow
from headrace.om.outbox.types.relay_report import OutboxGauges
from headrace.om.storage.outcomes import InsertOutcome

MAX_COUNTED: Final = 10_000
"""Where counting pending rows stops: beyond it, only that there are too many matters."""


class OutboxStorageInterface(ABC):
    """Outbox rows, each of one tenant. Every method is one statement; clocks are the storage's.

    A row of another tenant is neither found nor changed. A row that cannot be read is handed out as an
    `UnreadableRow` and holds up none of those beside it. Core writes of other namespaces land their rows in their
    own transactions, not through here.
    """

    @abstractmethod
    async def create_row(self, org_id: UUID, row: OutboxRow) -> InsertOutcome:
        """Insert a row that is due at once; ID_EXISTS where the tenant has it already, which stays as it is.

        Raises:
            ValidationFailed: The row cannot be stored, or its payload is larger than `rules.MAX_PAYLOAD_BYTES`.
        """
        ...

    @abstractmethod
    async def take_pending(self, limit: int, hold: timedelta) -> tuple[tuple[UUID, TakenRow], ...]:
        """Hand out due rows of any tenant with their tenants, those due longest first, and hide them for a while.

        Where more are due than the limit, it is shared out one row of each tenant after the other, so that no
        tenant's burst holds up another's row; what some do not need goes to those that have more.

        Takes no tenant: the sweep carries on what any tenant's writer left behind, and the tenant is part of the
        answer. Rows that others are taking are passed over. A row that is not marked within `hold` is due again.

        Args:
            limit: At most this many.
            hold: How long nobody else is handed them; above zero.
        """
        ...

    @abstractmethod
    async def take_rows(self, org_id: UUID, row_ids: Sequence[UUID], hold: timedelta) -> tuple[TakenRow, ...]:
        """Hand out those of the tenant's rows that are due, as `take_pending` does; the others are left out."""
        ...

    @abstractmethod
    async def mark_done(self, org_id: UUID, row_ids: Sequence[UUID]) -> int:
        """Record that the rows' side effects happened; return how many were not done before. Safe to call again.

        Tried again in a new transaction when the database refuses for now.
        """
        ...

    @abstractmethod
    async def mark_failed(self, org_id: UUID, row_id: UUID, error: str, backoff: RelayBackoff) -> bool:
        """Record that relaying failed; the row is due again after `rules.relay_delay`.

        Any text is taken: it is cleaned and cut. Tried again in a new transaction when the database refuses for now.

        Returns:
            False, with nothing changed, where the row is done by now or not there.
        """
        ...

    @abstractmethod
    async def purge_done(self, older_than: timedelta, limit: int) -> int:
        """Remove at most `limit` rows done longer ago than that, oldest first; return how many.

        Takes no tenant: done rows are dead weight of every tenant alike, and nothing of them is handed out.
        """
        ...

    @abstractmethod
    async def read_gauges(self) -> OutboxGauges:
        """Return how many rows are pending, counted up to `MAX_COUNTED`, and the age of the oldest.

        Takes no tenant: operators watch the relay as a whole.
        """
        ...
