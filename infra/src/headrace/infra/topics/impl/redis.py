"""Topics over Redis' publish and subscribe."""

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import Final, override

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from headrace.infra.addresses import REDIS_SCHEMES, check_scheme, shown_address
from headrace.infra.topics.codec import DEFAULT_NAMESPACE
from headrace.infra.topics.impl.listener import ListenerConnectionInterface, ListenerOptions, MessageSink
from headrace.infra.topics.impl.listening import ListeningTopics

HANG_UP_SECONDS: Final = 1.0


class TopicsRedisImpl(ListeningTopics):
    """Messages between all processes that use one Redis server, whichever of its databases they chose.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://`` address.
        namespace: Begins every channel; see ``ListeningTopics``.
        options: Bounds.

    Raises:
        ConfigurationInvalid: The address is not one of these, or the namespace cannot be part of a channel.
    """

    def __init__(self, url: str, *, namespace: str = DEFAULT_NAMESPACE, options: ListenerOptions | None = None) -> None:
        options = options or ListenerOptions()
        check_scheme("redis topics", url, REDIS_SCHEMES)
        super().__init__(
            lambda sink: RedisListenerConnection(url, sink, options),
            backend=f"publish/subscribe at {shown_address(url)}",
            namespace=namespace,
            options=options,
        )


class RedisListenerConnection(ListenerConnectionInterface):
    """A connection that subscribes, and beside it a small pool that publishes, as the protocol demands."""

    def __init__(self, url: str, sink: MessageSink, options: ListenerOptions) -> None:
        self._sink = sink
        self._client = _client(url, options)
        self._pubsub = self._client.pubsub()
        self._confirmed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @override
    async def open(self) -> None:
        await self._pubsub.connect()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped

    @override
    async def listen(self, channel: str) -> None:
        await self._pubsub.subscribe(channel)
        await self._confirmed[channel].wait()

    @override
    async def notify(self, channel: str, text: str) -> None:
        await self._client.publish(channel, text)

    @override
    async def receive(self) -> None:
        while True:
            message = await self._pubsub.get_message(timeout=None)
            if message is None:
                continue
            if message["type"] == "subscribe":
                self._confirmed[message["channel"]].set()
            elif message["type"] == "message":
                self._sink(message["channel"], message["data"])

    @override
    async def close(self) -> None:
        with suppress(Exception):
            async with asyncio.timeout(HANG_UP_SECONDS):
                await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
                await self._client.aclose()


def _client(url: str, options: ListenerOptions) -> Redis:
    # A pool that makes callers wait: the plain one refuses the caller above its size.
    pool = BlockingConnectionPool.from_url(
        url,
        decode_responses=True,
        encoding_errors="replace",  # a stranger's bytes on a channel must not end the connection
        protocol=2,
        max_connections=4,
        socket_connect_timeout=options.connect_timeout.total_seconds(),
        socket_timeout=options.command_timeout.total_seconds(),
        timeout=options.command_timeout.total_seconds(),
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)
