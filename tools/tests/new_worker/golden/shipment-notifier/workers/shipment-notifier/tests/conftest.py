import pytest

from headrace.om.base import FrozenMapping
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem


@pytest.fixture
def item() -> WorkItem:
    """An item whose payload fits, not enqueued yet."""
    payload = {
        "order_id": "0192f0c1-6a00-7000-8000-000000000001",
        "carrier": "hello",
        "weight": "12.50",
        "note": "hello",
    }
    return WorkItem(kind=WorkKind.NOTIFY_SHIPMENT, origin="test", payload=FrozenMapping(payload))
