"""Who listens inside this process: one bounded queue and one task for each, so that none can hold up another."""

import asyncio
import logging
from collections import deque
from typing import Final

from headrace.infra.topics import TopicCallback, TopicPayload, Topics
from headrace.infra.topics.owned_tasks import OwnedTasks, is_being_cancelled

logger = logging.getLogger(__name__)

DEFAULT_QUEUE_SIZE: Final = 1000


class Subscription:
    """One callback and the messages that wait for it.

    Args:
        topic: What it hears.
        callback: What is called, one message at a time.
        queue_size: How many messages wait at most; beyond that the oldest is dropped.
    """

    def __init__(self, topic: Topics, callback: TopicCallback, *, queue_size: int) -> None:
        self.topic = topic
        self.task: asyncio.Task[None] | None = None
        self.num_dropped = 0
        self._is_stopped = False
        self._callback = callback
        self._waiting: deque[TopicPayload] = deque(maxlen=queue_size)
        self._arrived = asyncio.Event()

    def offer(self, payload: TopicPayload) -> None:
        """Put a message in the queue without waiting."""
        if len(self._waiting) == self._waiting.maxlen:
            self._note_drop()
        self._waiting.append(payload)
        self._arrived.set()

    async def run(self) -> None:
        """Serve the queue until stopped or cancelled."""
        while not self._is_stopped:
            await self._arrived.wait()
            while self._waiting and not self._is_stopped:
                await self._call(self._waiting.popleft())
            self._arrived.clear()

    async def stop(self) -> None:
        """Cancel a running callback and wait for its end; a callback that calls this runs to its own end instead."""
        self._is_stopped = True
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
            await asyncio.wait([self.task])

    async def _call(self, payload: TopicPayload) -> None:
        try:
            await self._callback(payload)
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
                raise
            logger.warning("a subscriber of %s failed", self.topic, exc_info=error)

    def _note_drop(self) -> None:
        self.num_dropped += 1
        if self.num_dropped == 1:
            logger.warning("a subscriber of %s is too slow; its oldest messages are dropped", self.topic)


class Subscribers:
    """All subscriptions of a process.

    Args:
        tasks: Where the callbacks run; while it is closed messages are not taken.
        queue_size: The bound of each queue, 1 or more.
    """

    def __init__(self, tasks: OwnedTasks, *, queue_size: int = DEFAULT_QUEUE_SIZE) -> None:
        self._tasks = tasks
        self._queue_size = queue_size
        self._by_topic: dict[Topics, list[Subscription]] = {topic: [] for topic in Topics}
        self._num_dropped_before = 0

    def start(self) -> None:
        """Begin to call those who subscribed before the tasks could run."""
        for subscriptions in self._by_topic.values():
            for subscription in subscriptions:
                self._run(subscription)

    def add(self, topic: Topics, callback: TopicCallback) -> Subscription:
        """Register a callback; its task begins now, or at ``start``."""
        subscription = Subscription(topic, callback, queue_size=self._queue_size)
        self._by_topic[topic].append(subscription)
        if self._tasks.is_open:
            self._run(subscription)
        return subscription

    async def remove(self, subscription: Subscription) -> None:
        """Forget a callback and wait until it has ended, unless it is the caller; does nothing the second time."""
        if subscription in self._by_topic[subscription.topic]:
            self._by_topic[subscription.topic].remove(subscription)
            self._num_dropped_before += subscription.num_dropped
            await subscription.stop()

    def deliver(self, topic: Topics, payload: TopicPayload) -> None:
        """Hand a message to every queue of the topic, without waiting."""
        if self._tasks.is_open:
            for subscription in self._by_topic[topic]:
                subscription.offer(payload)

    def topics(self) -> frozenset[Topics]:
        """Tell which topics somebody listens to."""
        return frozenset(topic for topic, subscriptions in self._by_topic.items() if subscriptions)

    def num_dropped(self) -> int:
        """Count what full queues have cost, ended subscriptions included."""
        current = (each.num_dropped for subscriptions in self._by_topic.values() for each in subscriptions)
        return self._num_dropped_before + sum(current)

    def _run(self, subscription: Subscription) -> None:
        if subscription.task is None or subscription.task.done():
            subscription.task = self._tasks.spawn(subscription.run(), name=f"subscriber of {subscription.topic}")
