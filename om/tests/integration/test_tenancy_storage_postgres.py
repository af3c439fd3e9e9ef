"""The PostgreSQL storage of tenancy keeps the contract, and the policies stand behind its predicates."""

import asyncpg
import pytest
from sqlalchemy import text

from headrace.om.base import EMPTY_UUID
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.storage.roles import DatabaseRole
from headrace.om.tenancy.storage.impl.postgres import TenancyStoragePostgresImpl
from headrace.tools.dev import LoginUrls
from om.tests.contracts.tenancy_keys_storage import TenancyKeysStorageContract
from om.tests.contracts.tenancy_purging import TenancyPurgingContract
from om.tests.contracts.tenancy_storage import TenancyStorageContract, Tenant, api_key

pytestmark = pytest.mark.servers

TABLES = ("orgs", "users", "memberships", "api_keys")


class TestTenancyStoragePostgres(TenancyStorageContract, TenancyKeysStorageContract, TenancyPurgingContract):
    @pytest.fixture
    def outbox(self, database: Database) -> OutboxStoragePostgresImpl:
        return OutboxStoragePostgresImpl(database)

    @pytest.fixture
    def storage(self, database: Database) -> TenancyStoragePostgresImpl:
        return TenancyStoragePostgresImpl(database)

    @pytest.fixture
    async def tenants(self, storage: TenancyStoragePostgresImpl) -> tuple[Tenant, Tenant]:
        made = await Tenant().stored(storage), await Tenant().stored(storage)
        for tenant in made:
            await storage.create_api_key(tenant.id, api_key(), [])
        return made

    @pytest.mark.parametrize("table", TABLES)
    async def test_a_tenant_sees_its_own_rows_when_the_statement_names_none(
        self, database: Database, tenants: tuple[Tenant, Tenant], table: str
    ) -> None:
        counted = text(f"SELECT count(*) FROM core.{table}")  # noqa: S608 - a name of our own
        for org_id, expected in ((tenants[0].id, 1), (None, 0), (EMPTY_UUID, 2)):
            async with database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
                assert await session.scalar(counted) == expected

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.usefixtures("tenants")
    async def test_the_runtime_login_sees_nothing_when_it_names_the_system_scope(
        self, module_login_urls: LoginUrls, table: str
    ) -> None:
        connection = await asyncpg.connect(module_login_urls.runtime, timeout=10)
        try:
            await connection.execute("SELECT set_config('app.org_id', $1, false)", str(EMPTY_UUID))
            assert await connection.fetchval(f"SELECT count(*) FROM core.{table}") == 0  # noqa: S608 - likewise
        finally:
            await connection.close()

    async def test_the_service_role_is_refused_by_the_database_when_nothing_else_refuses_it(
        self, admin_connection: asyncpg.Connection, tenants: tuple[Tenant, Tenant]
    ) -> None:
        with pytest.raises(asyncpg.CheckViolationError):
            await admin_connection.execute(
                "UPDATE core.memberships SET role = 'service' WHERE org_id = $1", tenants[0].id
            )
