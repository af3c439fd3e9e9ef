"""The handler of HTTP2_PING."""

from typing import Any, override

from acme_works.om.audit import AuditManagerInterface
from acme_works.om.audit.types.audit_entry import AuditEntry
from acme_works.om.base import FrozenMapping
from acme_works.om.context import OpContext
from acme_works.om.work.payload import payload_of
from acme_works.om.work.types.handler import WorkHandlerInterface
from acme_works.om.work.types.payloads.http2_ping import Http2PingPayload
from acme_works.om.work.types.work_item import WorkItem


class Http2PingHandlerImpl(WorkHandlerInterface):
    """Checks an item's payload and leaves a receipt for it in the org's audit trail; safe to run any number of times.

    The receipt bears the item's own id, so that an item which runs again meets the one that is there. It is in the
    database, behind the org's policies: unlike a key in the cache it outlasts an outage, and an operator can read it.

    Args:
        audit: Where receipts are kept.
    """

    def __init__(self, audit: AuditManagerInterface) -> None:
        self._audit = audit

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> dict[str, Any]:
        """Record the receipt; return its id, and the payload as it was understood.

        Raises:
            WorkPayloadRefused: The payload does not fit; nothing was recorded, and no attempt can succeed.
            Unavailable: The receipt may not have been recorded; another attempt records it.
        """
        payload = payload_of(Http2PingPayload, item)
        receipt = _receipt_of(item)
        await self._audit.append(ctx, receipt)
        return {"receipt_id": str(receipt.id), "payload": payload.model_dump(mode="json")}


def _receipt_of(item: WorkItem) -> AuditEntry:
    """Return the entry that says that the item was handled; ids and kinds only, since it outlives whom it speaks of."""
    details = FrozenMapping({"kind": item.kind.value})
    return AuditEntry(id=item.id, action="work.handled", target_type="work_item", target_id=item.id, details=details)
