import pytest

from headrace.om.base import FrozenMapping
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem


@pytest.fixture
def item() -> WorkItem:
    """An item whose payload fits, not enqueued yet."""
    payload = {"note": "hello"}
    return WorkItem(kind=WorkKind.PLAIN, origin="test", payload=FrozenMapping(payload))
