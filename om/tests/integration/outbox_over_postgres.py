"""The outbox contract over any PostgreSQL: how its clock is moved and how a row that nobody can read is planted."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import new_id
from om.tests.contracts.outbox_storage import OutboxStorageContract, PassTime, Plant

PLANT: Final = """
INSERT INTO core.outbox_rows (org_id, id, kind, payload, actor_id, request_id, created_at)
VALUES ($1, $2, 'entity.changed', $3::text::jsonb, $2, $2, $4::text::timestamptz)
"""
UNREADABLE: Final = '{"n": 1e5000}'
"""A number that PostgreSQL holds and writes out in more digits than Python reads."""


class OutboxOverPostgres(OutboxStorageContract):
    """A subclass gives the fixture `storage`."""

    @pytest.fixture
    def pass_time(self, admin_connection: asyncpg.Connection) -> PassTime:
        async def pass_time(duration: timedelta) -> None:
            await admin_connection.execute(
                "UPDATE core.outbox_rows SET recorded_at = recorded_at - $1::interval,"
                " available_at = available_at - $1::interval, done_at = done_at - $1::interval",
                duration,
            )

        return pass_time

    @pytest.fixture
    def plant_unreadable(self, admin_connection: asyncpg.Connection) -> Plant:
        async def plant(org_id: UUID) -> UUID:
            row_id = new_id()
            await admin_connection.execute(PLANT, org_id, row_id, UNREADABLE, "2026-11-30 00:00Z")
            return row_id

        return plant
