"""What the topics over a listener share: channels, encoding, and the order of opening and closing."""

import re
from datetime import timedelta
from typing import Final, override

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.topics import TopicCallback, TopicPayload, Topics, TopicsInterface, Unsubscribe
from headrace.infra.topics.codec import channel_of, decode, encode
from headrace.infra.topics.impl.listener import ConnectionFactory, ListenerOptions, TopicListener
from headrace.infra.topics.impl.subscribers import Subscribers, Subscription
from headrace.infra.topics.owned_tasks import OwnedTasks

# With "_self_" and 32 digits behind it a channel stays within PostgreSQL's 63 bytes, and needs no quoting anywhere.
NAMESPACE: Final = re.compile(r"[a-z][a-z0-9_]{0,23}")


class ListeningTopics(TopicsInterface):
    """Topics whose messages travel through a backend that this process holds one connection to.

    Publishing shares the listener's connection: a process costs the backend one connection, and while it is lost
    publishes answer False at once.

    Args:
        connect: Makes a connection to the backend.
        backend: What the backend is called in log lines; no credentials.
        namespace: Lower-case word of at most 24 characters that begins every channel; keeps installations apart.
        options: Bounds.

    Raises:
        ConfigurationInvalid: The namespace cannot be part of a channel.
    """

    def __init__(
        self, connect: ConnectionFactory, *, backend: str, namespace: str, options: ListenerOptions | None = None
    ) -> None:
        if not NAMESPACE.fullmatch(namespace):
            raise ConfigurationInvalid(
                f"topics namespace must be a lower-case word of at most 24 characters (a-z, 0-9, _), got {namespace!r}"
            )
        options = options or ListenerOptions()
        self._backend = backend
        self._namespace = namespace
        self._topics = {self._channel(topic): topic for topic in Topics}
        self._num_unreadable = 0
        self._tasks = OwnedTasks()
        self._subscribers = Subscribers(self._tasks, queue_size=options.queue_size)
        self._listener = TopicListener(connect, self._on_message, backend=backend, namespace=namespace, options=options)

    @override
    async def start(self) -> None:
        if self._tasks.is_open:
            return
        await self._tasks.start()
        self._subscribers.start()
        self._tasks.spawn(self._listener.run(), name="topic listener")

    @override
    async def close(self) -> None:
        await self._tasks.close()

    @override
    async def publish(self, topic: Topics, payload: TopicPayload) -> bool:
        text = encode(topic, payload)
        return text is not None and await self._listener.publish(self._channel(topic), text)

    @override
    async def subscribe(self, topic: Topics, callback: TopicCallback) -> Unsubscribe:
        subscription = self._subscribers.add(topic, callback)
        try:
            await self._confirm(topic)
        except BaseException:  # cancelled meanwhile: nobody would hold the way to end it
            await self._subscribers.remove(subscription)
            raise
        return self._ender(subscription)

    @override
    def has_listeners(self, topic: Topics) -> bool | None:
        return True if topic in self._subscribers.topics() else None  # another process may listen

    @override
    def last_heard_age(self) -> timedelta | None:
        return self._listener.last_heard_age()

    @override
    def num_dropped(self) -> int:
        return self._num_unreadable + self._subscribers.num_dropped()

    @override
    def describe(self) -> str:
        return f"topics over {self._backend}, channels {self._namespace}_*"

    async def _confirm(self, topic: Topics) -> None:
        self._listener.want(self._channel(topic))
        if self._tasks.is_open:
            await self._listener.confirmed(self._channel(topic))

    def _ender(self, subscription: Subscription) -> Unsubscribe:
        # The channel stays wanted: it costs little, and a helper that subscribes for each wait would toggle it.
        async def unsubscribe() -> None:
            await self._subscribers.remove(subscription)

        return unsubscribe

    def _channel(self, topic: Topics) -> str:
        return channel_of(self._namespace, topic)

    def _on_message(self, channel: str, text: str) -> None:
        topic = self._topics[channel]
        payload = decode(topic, text)
        if payload is None:
            self._num_unreadable += 1
        else:
            self._subscribers.deliver(topic, payload)
