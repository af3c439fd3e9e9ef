"""The PostgreSQL storage of audit entries keeps the contract, and the database refuses to change an entry."""

from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
from sqlalchemy import text

from headrace.om.audit.storage.impl.postgres import AuditStoragePostgresImpl
from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.storage.roles import DatabaseRole
from headrace.tools.dev import LoginUrls
from om.tests.contracts.audit_storage import ORG, AuditStorageContract, audit_entry

pytestmark = pytest.mark.servers


class TestAuditStoragePostgres(AuditStorageContract):
    @pytest.fixture
    def storage(self, database: Database) -> AuditStoragePostgresImpl:
        return AuditStoragePostgresImpl(database)

    @pytest.mark.parametrize(
        "change", ["DELETE FROM activity.audit_entries", "UPDATE activity.audit_entries SET action = 'a.b'"]
    )
    @pytest.mark.parametrize("login", ["runtime", "system"])
    async def test_the_database_refuses_when_a_login_changes_an_entry(
        self, storage: AuditStoragePostgresImpl, module_login_urls: LoginUrls, login: str, change: str
    ) -> None:
        await storage.create_entry(ORG, audit_entry())
        connection = await asyncpg.connect(getattr(module_login_urls, login), timeout=10)
        try:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(change)
        finally:
            await connection.close()

    async def test_entries_of_many_are_created_when_handlers_hold_all_other_connections(
        self, database_options: DatabaseOptions
    ) -> None:
        limits = replace(database_options.limits, pool_size=1, pool_timeout=timedelta(milliseconds=200))
        database = Database(replace(database_options, limits=limits))
        try:
            async with database.session_for(DatabaseRole.ACTIVITY, org_id=EMPTY_UUID) as session:
                await session.execute(text("SELECT 1"))
                outcomes = await AuditStoragePostgresImpl(database).create_entries([(ORG, audit_entry())])
            assert outcomes == (InsertOutcome.INSERTED,)
        finally:
            await database.close()
