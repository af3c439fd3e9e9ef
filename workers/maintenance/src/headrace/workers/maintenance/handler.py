"""What the maintenance worker does with an item: nothing, so that the way through the queue can be seen."""

from typing import Any, override

from headrace.om.context import OpContext
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.work_item import WorkItem


class NoopHandlerImpl(WorkHandlerInterface):
    """Hands the item's note back as its result; safe to run any number of times."""

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        return {"note": item.payload.get("note", "")}
