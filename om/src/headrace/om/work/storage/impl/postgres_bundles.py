"""One tenant's bundles over PostgreSQL."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.encoding import encode_json
from headrace.om.exceptions import Conflict, Unavailable
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage import WorkBundleStorageInterface
from headrace.om.work.storage.impl import bundle_statements as sql
from headrace.om.work.storage.impl.item_columns import insert_columns
from headrace.om.work.storage.impl.postgres_base import CONTROL
from headrace.om.work.storage.impl.postgres_items import MAX_INSERT_TRIES, WorkItemsPostgres
from headrace.om.work.storage.impl.rows import bundle_of
from headrace.om.work.types.bundle import BundleFilter, WorkBundle
from headrace.om.work.types.queries import CreatedBundle, CreatedItem
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES, WorkItem


class WorkBundlesPostgres(WorkItemsPostgres, WorkBundleStorageInterface):
    """Each method one statement; a create looks closer at what was in its way."""

    @override
    async def create_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> CreatedBundle:
        for _ in range(MAX_INSERT_TRIES):
            try:
                columns = insert_columns(items, fair_share=self._fair_share)
                rows = await self._rows(sql.CREATE_BUNDLE, org_id, *_bundle_values(bundle), *columns)
            except Conflict:
                if any(reports := await self._reports_of_taken(org_id, items)):
                    return CreatedBundle(outcome=InsertOutcome.KEY_EXISTS, taken=_in_order(items, reports))
                continue  # what was in the way is gone by now
            return CreatedBundle(outcome=InsertOutcome.INSERTED if rows else InsertOutcome.ID_EXISTS)
        raise Unavailable("ids or keys of these items come and go; enqueue the bundle again")

    @override
    async def read_bundle(self, org_id: UUID, bundle_id: UUID) -> WorkBundle | None:
        rows = await self._rows(sql.READ_BUNDLE, org_id, bundle_id)
        return bundle_of(rows[0]) if rows else None

    @override
    async def read_bundles(
        self, org_id: UUID, where: BundleFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkBundle, ...]:
        rows = await self._rows(sql.READ_BUNDLES, org_id, after, where.status, where.kind, where.origin, limit)
        return tuple(bundle_of(row) for row in rows)

    @override
    async def delete_bundle(self, org_id: UUID, bundle_id: UUID) -> bool:
        return bool(await self._rows(sql.DELETE_BUNDLE, org_id, bundle_id))

    @override
    async def purge_bundles(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        return len(await self._rows(sql.PURGE_BUNDLES, org_id, older_than, limit, purpose=CONTROL))


def _bundle_values(bundle: WorkBundle) -> tuple[Any, ...]:
    """Return what `CREATE_BUNDLE` takes of a bundle after the tenant."""
    wanted = None if bundle.on_settled is None else bundle.on_settled.model_dump(mode="json")
    on_settled = None if wanted is None else encode_json("on_settled", wanted, limit_bytes=2 * MAX_PAYLOAD_BYTES)
    cause = (bundle.request_id, bundle.traceparent, bundle.follow_up_id)
    provenance = (bundle.created_at, bundle.created_by, bundle.updated_at, bundle.updated_by)
    return (bundle.id, bundle.kind, bundle.origin, on_settled, *cause, bundle.num_items, *provenance)


def _in_order(items: Sequence[WorkItem], reports: dict[UUID, CreatedItem]) -> tuple[CreatedItem, ...]:
    free = (CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id) for item in items)
    return tuple(reports.get(item.id, its_own) for item, its_own in zip(items, free, strict=True))
