"""Every change of an item's status, as the database saw it: written by a trigger, so that nothing is left out."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

INSTALL: Final = """
CREATE TABLE IF NOT EXISTS public.journal (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    item_id uuid NOT NULL, before text NOT NULL, after text NOT NULL, worker text
);
TRUNCATE public.journal;
CREATE OR REPLACE FUNCTION public.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.journal (item_id, before, after, worker)
    VALUES (NEW.id, OLD.status, NEW.status, coalesce(NEW.claimed_by, OLD.claimed_by));
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_change AFTER UPDATE ON queue.work_items
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION public.note_change();
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one item.

    Attributes:
        at: On the database's clock.
        item_id: Of what.
        before: The status before.
        after: The status after.
        worker: Who holds or held the claim.
    """

    at: datetime
    item_id: UUID
    before: str
    after: str
    worker: str | None


class Journal:
    """Reads the journal of one database, as the superuser whose URL it is given."""

    def __init__(self, admin_dsn: str) -> None:
        self._dsn = admin_dsn

    async def install(self) -> None:
        """Begin an empty journal."""
        await self._run(INSTALL)

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes in the order in which they were made."""
        rows = await self._rows("SELECT at, item_id, before, after, worker FROM public.journal ORDER BY number")
        return tuple(Change(**row) for row in rows)

    async def num_settlements(self) -> Counter[UUID]:
        """Return how often each item was settled."""
        settled = {"done", "failed", "cancelled"}
        return Counter(change.item_id for change in await self.changes() if change.after in settled)

    async def now(self) -> datetime:
        """Return the database's time."""
        (row,) = await self._rows("SELECT clock_timestamp() AS now")
        now: datetime = row["now"]
        return now

    async def _run(self, script: str) -> None:
        connection = await asyncpg.connect(self._dsn, timeout=10)
        try:
            await connection.execute(script)
        finally:
            await connection.close()

    async def _rows(self, statement: str) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self._dsn, timeout=10)
        try:
            rows: list[asyncpg.Record] = await connection.fetch(statement)
        finally:
            await connection.close()
        return rows
