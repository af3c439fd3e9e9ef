"""Waiting for an end: by message where one is heard, and by looking from time to time where none is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID

from headrace.infra.topics import BundleSettled, TopicPayload, Topics, TopicsInterface, WorkSettled
from headrace.om.exceptions import ValidationFailed
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.work_item import WorkItem

type Row = tuple[UUID, UUID]
"""A row's tenant and id."""


async def until_settled[Record: (WorkItem, WorkBundle)](
    topics: TopicsInterface,
    topic: Topics,
    row: Row,
    read: Callable[[], Awaitable[Record]],
    *,
    timeout: timedelta,  # noqa: ASYNC109 - ends the wait with an answer, not with a cancel
    poll_interval: timedelta,
) -> Record:
    """Return the record once it has settled, or as it stands when the time has passed.

    Listens before it looks, so that an end in between is not missed. On cancel it stops listening.

    Args:
        topics: What is listened to.
        topic: Where the end is told.
        row: The record's tenant and id.
        read: Looks at the record.
        timeout: How long at most; zero looks once.
        poll_interval: Between two looks when nothing is heard.

    Raises:
        ValidationFailed: The poll interval is not above zero.
    """
    if poll_interval <= timedelta(0):
        raise ValidationFailed("poll_interval", f"a duration above zero, got {poll_interval}")
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + timeout.total_seconds()
    news = _News(row)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(await topics.subscribe(topic, news.hear))
        while True:
            news.arrived.clear()
            record = await read()
            left = ends_at - loop.time()
            if record.settled_at is not None or left <= 0:
                return record
            await news.wait(min(left, poll_interval.total_seconds()))


class _News:
    """Notes when a message speaks of the row."""

    def __init__(self, row: Row) -> None:
        self.arrived = asyncio.Event()
        self._row = row

    async def hear(self, message: TopicPayload) -> None:
        """Take a message."""
        if self._row in _rows_of(message):
            self.arrived.set()

    async def wait(self, seconds: float) -> None:
        """Return when a message has come, or the time has passed."""
        try:
            async with asyncio.timeout(seconds):
                await self.arrived.wait()
        except TimeoutError:
            return


def _rows_of(message: TopicPayload) -> set[Row]:
    match message:
        case WorkSettled():
            return {(end.org_id, end.item_id) for end in message.ends if not end.will_retry}
        case BundleSettled():
            return {(message.org_id, message.bundle_id)}
    return set()
