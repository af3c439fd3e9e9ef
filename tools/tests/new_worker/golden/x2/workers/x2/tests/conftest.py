import pytest

from acme_works.om.base import FrozenMapping
from acme_works.om.work.types.kinds import WorkKind
from acme_works.om.work.types.work_item import WorkItem


@pytest.fixture
def item() -> WorkItem:
    """An item whose payload fits, not enqueued yet."""
    payload = {
        "id": 7,
        "ratio": 1.5,
        "is_new": True,
        "day": "2026-02-28",
        "at": ["2026-02-28T12:00:00Z"],
        "names": ["hello"],
        "parts": ["0192f0c1-6a00-7000-8000-000000000001"],
    }
    return WorkItem(kind=WorkKind.HTTP2_PING, origin="test", payload=FrozenMapping(payload))
