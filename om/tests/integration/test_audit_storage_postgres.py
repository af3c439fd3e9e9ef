"""The PostgreSQL storage of audit entries keeps the contract, and the database refuses to change an entry."""

import asyncpg
import pytest

from headrace.om.audit.storage.impl.postgres import AuditStoragePostgresImpl
from headrace.om.storage.database import Database
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
