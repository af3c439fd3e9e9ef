"""Claiming over PostgreSQL: one statement where nothing bounds claims, else through the gate."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import uniform
from typing import Final, override
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import PlatformException, Unavailable
from headrace.om.storage.database import Database
from headrace.om.work.claiming import claimed_order, next_line
from headrace.om.work.storage import WorkClaimStorageInterface
from headrace.om.work.storage.impl import claim_statements as sql
from headrace.om.work.storage.impl.gated_statements import gated_statement
from headrace.om.work.storage.impl.postgres_base import WorkPostgresPart
from headrace.om.work.storage.impl.rows import item_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow

logger = logging.getLogger(__name__)

MAX_ROUNDS: Final = 8
"""Statements of one claim at most, each of which takes something, or gives turns, or looks further."""

GATE_PATIENCE: Final = timedelta(seconds=2)
"""How long a claim tries to get into the gate; others hold it for milliseconds."""

GATE_REST: Final = timedelta(milliseconds=2)
"""The average rest before a claim tries the gate again."""


@dataclass(frozen=True, slots=True)
class ClaimWish:
    """What a claim asks for."""

    lane: str
    kinds: tuple[str, ...]
    worker_id: str
    lease: timedelta
    limit: int

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        """Where it looks."""
        return self.lane, self.kinds

    @property
    def size(self) -> int:
        """The size of the statement that it takes."""
        return next(size for size in sql.SIZES if size >= self.limit)


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What a statement took, and what it says about the rest; see the statements."""

    rows: tuple[ClaimedRow, ...]
    is_gated: bool
    has_waiting: bool
    has_shared: bool = False
    is_cut: bool = False


class WorkClaimsPostgres(WorkPostgresPart, WorkClaimStorageInterface):
    """Claims; what it remembers between them only says where to begin, never what may be taken."""

    def __init__(self, database: Database, *, fair_share: bool = True) -> None:
        super().__init__(database, fair_share=fair_share)
        self._served: dict[tuple[str, tuple[str, ...]], UUID] = {}
        self._gated: set[tuple[str, tuple[str, ...]]] = set()
        self._line = 0

    @override
    async def claim_next(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> ClaimedRow | None:
        claimed = await self.claim_batch(lane, kinds, worker_id, lease, 1)
        return claimed[0] if claimed else None

    @override
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        wish = ClaimWish(lane, tuple(sorted({kind.value for kind in kinds})), worker_id, lease, limit)
        rows: list[ClaimedRow] = []
        try:
            await self._claim_into(rows, wish)
        except PlatformException as error:
            # What was taken is this caller's: to say nothing but the error would leave it to its lease.
            if not rows:
                raise
            logger.warning("a claim makes do with %d items: %s", len(rows), error)
        return tuple(sorted(rows, key=claimed_order))

    @override
    def is_bounded(self, lane: str) -> bool:
        return any(place[0] == lane for place in self._gated)

    async def _claim_into(self, rows: list[ClaimedRow], wish: ClaimWish) -> None:
        for _ in range(MAX_ROUNDS):
            if wish.place in self._gated:
                await self._through_gate(rows, wish)
                return
            answer = await self._ungated(replace(wish, limit=wish.limit - len(rows)))
            rows += answer.rows
            if answer.is_gated:
                continue
            moved = await self._place(wish) if answer.has_waiting else 0
            if len(rows) >= wish.limit or not (moved or answer.is_cut):
                return

    async def _ungated(self, wish: ClaimWish) -> ClaimAnswer:
        stmt = sql.claim_statement(wish.size, len(wish.kinds))
        rows = await self._rows_across(stmt, *self._common(wish), wish.limit)
        self._note(wish, rows[0])
        first = rows[0]
        return ClaimAnswer(_claimed(rows), first["is_gated"], first["has_waiting"], is_cut=first["is_cut"])

    async def _through_gate(self, rows: list[ClaimedRow], wish: ClaimWish) -> None:
        """Claim until nothing more can be taken, at first one item of each turn, then the rest in equal shares."""
        share = 1
        for _ in range(MAX_ROUNDS):
            answer = await self._gate_round(replace(wish, limit=wish.limit - len(rows)), share)
            rows += answer.rows
            moved = await self._place(wish) if answer.has_waiting else 0
            moved += await self._spread(wish) if answer.has_shared else 0
            left = wish.limit - len(rows)
            if not left or not (answer.rows or answer.is_cut or moved):
                return
            share = -(-left // max(1, len({row.org_id for row in answer.rows}))) if share == 1 else left

    async def _gate_round(self, wish: ClaimWish, share: int) -> ClaimAnswer:
        stmt = gated_statement(wish.size, len(wish.kinds))
        self._line = next_line(self._line)
        give_up_at = time.monotonic() + GATE_PATIENCE.total_seconds()
        while time.monotonic() < give_up_at:
            rows = await self._rows_across(stmt, *self._common(wish), self._line, share, wish.limit)
            first = rows[0]
            if first["state"] == "open":
                self._note(wish, first)
                return ClaimAnswer(
                    _claimed(rows), first["is_gated"], first["has_waiting"], first["has_shared"], first["is_cut"]
                )
            if first["state"] == "busy":
                await asyncio.sleep(uniform(0, 2 * GATE_REST.total_seconds()))  # noqa: S311 - to meet nobody again
        raise Unavailable("the gate of claims that are limited was busy all the time; claim again")

    def _common(self, wish: ClaimWish) -> tuple[str, Sequence[str], str, timedelta, UUID]:
        return wish.lane, wish.kinds, wish.worker_id, wish.lease, self._served.get(wish.place, EMPTY_UUID)

    def _note(self, wish: ClaimWish, row: asyncpg.Record) -> None:
        if row["served"] is not None:
            self._served[wish.place] = row["served"]
        if row["is_gated"]:
            self._gated.add(wish.place)
        else:
            self._gated.discard(wish.place)

    async def _place(self, wish: ClaimWish) -> int:
        """Give turns to items that became due; return to how many."""
        stmt = sql.place_statement(len(wish.kinds))
        return len(await self._rows_across(stmt, wish.lane, wish.kinds, self._fair_share))

    async def _spread(self, wish: ClaimWish) -> int:
        """Give items that share a turn their own orgs' turns; return to how many."""
        return len(await self._rows_across(sql.spread_statement(len(wish.kinds)), wish.lane, wish.kinds))


def _claimed(rows: Sequence[asyncpg.Record]) -> tuple[ClaimedRow, ...]:
    taken = (row for row in rows if row["id"] is not None)
    return tuple(ClaimedRow.trusted({"org_id": row["org_id"], "item": item_of(row)}) for row in taken)
