"""Topics inside one process, for tests and for a process that runs alone."""

from datetime import timedelta
from typing import override

from headrace.infra.topics import TopicCallback, TopicPayload, Topics, TopicsInterface, Unsubscribe
from headrace.infra.topics.codec import decode, encode
from headrace.infra.topics.impl.subscribers import DEFAULT_QUEUE_SIZE, Subscribers
from headrace.infra.topics.owned_tasks import OwnedTasks


class TopicsInProcessImpl(TopicsInterface):
    """Messages go through the same encoding as everywhere, so that what works here works between processes.

    Args:
        queue_size: How many messages wait for one subscriber at most.
    """

    def __init__(self, *, queue_size: int = DEFAULT_QUEUE_SIZE) -> None:
        self._tasks = OwnedTasks()
        self._subscribers = Subscribers(self._tasks, queue_size=queue_size)

    @override
    async def start(self) -> None:
        await self._tasks.start()
        self._subscribers.start()

    @override
    async def close(self) -> None:
        await self._tasks.close()

    @override
    async def publish(self, topic: Topics, payload: TopicPayload) -> bool:
        text = encode(topic, payload)
        heard = decode(topic, text) if text is not None else None
        if heard is None or not self._tasks.is_open:
            return False
        self._subscribers.deliver(topic, heard)
        return True

    @override
    async def subscribe(self, topic: Topics, callback: TopicCallback) -> Unsubscribe:
        subscription = self._subscribers.add(topic, callback)

        async def unsubscribe() -> None:
            await self._subscribers.remove(subscription)

        return unsubscribe

    @override
    def has_listeners(self, topic: Topics) -> bool | None:
        return topic in self._subscribers.topics()

    @override
    def last_heard_age(self) -> timedelta | None:
        return timedelta(0) if self._tasks.is_open else None

    @override
    def num_dropped(self) -> int:
        return self._subscribers.num_dropped()

    @override
    def describe(self) -> str:
        return "topics inside this process"
