"""A backend in memory for the listener: connections that a test can deafen, refuse and break."""

import asyncio
from typing import override

from headrace.infra.topics.impl.listener import ListenerConnectionInterface, MessageSink


class Hub:
    """Passes texts between its connections, and does what the test asks.

    Attributes:
        is_unmakeable: No connection object can be made.
        is_refusing: Connecting fails.
        is_deaf: Nothing is passed on, as behind a transaction pooler.
        is_mute: Sending fails.
        num_refused_listens: How many of the next commands to listen fail.
    """

    def __init__(self) -> None:
        self.is_unmakeable = False
        self.is_refusing = False
        self.is_deaf = False
        self.is_mute = False
        self.num_refused_listens = 0
        self.connections: list[HubConnection] = []
        self.open: set[HubConnection] = set()

    def connect(self, sink: MessageSink) -> ListenerConnectionInterface:
        if self.is_unmakeable:
            raise ValueError("the hub's address cannot be read")
        connection = HubConnection(self, sink)
        self.connections.append(connection)
        return connection

    def break_all(self) -> None:
        for connection in self.open:
            connection.lost.set()

    def send(self, channel: str, text: str) -> None:
        if not self.is_deaf:
            for connection in self.open:
                connection.take(channel, text)


class HubConnection(ListenerConnectionInterface):
    def __init__(self, hub: Hub, sink: MessageSink) -> None:
        self.channels: list[str] = []
        self.lost = asyncio.Event()
        self._hub = hub
        self._sink = sink

    @override
    async def open(self) -> None:
        if self._hub.is_refusing:
            raise ConnectionRefusedError("the hub refuses")
        self._hub.open.add(self)

    @override
    async def listen(self, channel: str) -> None:
        if self._hub.num_refused_listens:
            self._hub.num_refused_listens -= 1
            raise RuntimeError("the hub takes no listener")
        self.channels.append(channel)

    @override
    async def notify(self, channel: str, text: str) -> None:
        if self._hub.is_mute:
            raise RuntimeError("the hub takes no text")
        self._hub.send(channel, text)

    @override
    async def receive(self) -> None:
        await self.lost.wait()
        raise ConnectionResetError("the hub broke the connection")

    @override
    async def close(self) -> None:
        self._hub.open.discard(self)

    def take(self, channel: str, text: str) -> None:
        if channel in self.channels:
            self._sink(channel, text)
