"""What keeps a deleted org from being removed: records that other namespaces of the core role hold of it."""

from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.storage.root import StorageInterface
from om.tests.contracts.tenancy_storage import ACTOR, Tenant
from om.tests.contracts.webhooks_storage import endpoint_with, message_with

AT_ONCE = timedelta(0)


class DeletedOrgContract:
    """Subclasses give the fixture `storage`, a whole root that is empty."""

    @pytest.fixture
    async def org_id(self, storage: StorageInterface) -> UUID:
        tenant = await Tenant().stored(storage.get_tenancy_storage())
        assert await storage.get_tenancy_storage().delete_org(tenant.id, ACTOR, [])
        return tenant.id

    async def test_an_org_stays_as_long_as_a_message_of_it_is_left(
        self, storage: StorageInterface, org_id: UUID
    ) -> None:
        await storage.get_webhooks_storage().create_message(org_id, message_with(), ())
        assert not await storage.get_tenancy_storage().purge_org(org_id, AT_ONCE)
        await storage.get_webhooks_storage().purge_messages(org_id, AT_ONCE, 10)
        assert await storage.get_tenancy_storage().purge_org(org_id, AT_ONCE)

    async def test_an_org_stays_as_long_as_an_endpoint_of_it_is_left(
        self, storage: StorageInterface, org_id: UUID
    ) -> None:
        await storage.get_webhooks_storage().create_endpoint(org_id, endpoint_with(), ())
        assert not await storage.get_tenancy_storage().purge_org(org_id, AT_ONCE)
        await storage.get_webhooks_storage().purge_endpoints(org_id, 10)
        assert await storage.get_tenancy_storage().purge_org(org_id, AT_ONCE)

    async def test_records_of_another_tenant_keep_no_org(self, storage: StorageInterface, org_id: UUID) -> None:
        other = new_id()
        await storage.get_webhooks_storage().create_message(other, message_with(), ())
        await storage.get_webhooks_storage().create_endpoint(other, endpoint_with(), ())
        assert await storage.get_tenancy_storage().purge_org(org_id, AT_ONCE)
