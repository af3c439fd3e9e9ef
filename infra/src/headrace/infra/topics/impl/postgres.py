"""Topics over PostgreSQL's LISTEN and NOTIFY."""

import asyncio
import re
from typing import Any, Final, override

import asyncpg

from headrace.infra.addresses import POSTGRES_SCHEMES, check_scheme, shown_address
from headrace.infra.exceptions import BackendUnavailable
from headrace.infra.topics.codec import DEFAULT_NAMESPACE
from headrace.infra.topics.impl.listener import ListenerConnectionInterface, ListenerOptions, MessageSink
from headrace.infra.topics.impl.listening import ListeningTopics

HANG_UP_SECONDS: Final = 1.0
_DRIVER_SUFFIX: Final = re.compile(r"^(postgres(?:ql)?)\+\w+://")


class TopicsPostgresImpl(ListeningTopics):
    """Messages between all processes that use one database.

    Args:
        dsn: Direct address of the database: a transaction pooler swallows LISTEN. A driver suffix is ignored.
        namespace: Begins every channel; see ``ListeningTopics``.
        options: Bounds.

    Raises:
        ConfigurationInvalid: The address is not PostgreSQL's, or the namespace cannot be part of a channel.
    """

    def __init__(self, dsn: str, *, namespace: str = DEFAULT_NAMESPACE, options: ListenerOptions | None = None) -> None:
        dsn = _DRIVER_SUFFIX.sub(r"\1://", dsn)
        options = options or ListenerOptions()
        check_scheme("postgres topics", dsn, POSTGRES_SCHEMES)
        super().__init__(
            lambda sink: PostgresListenerConnection(dsn, sink, options),
            backend=f"listen/notify at {shown_address(dsn)}",
            namespace=namespace,
            options=options,
        )


class PostgresListenerConnection(ListenerConnectionInterface):
    """One session that listens and notifies."""

    def __init__(self, dsn: str, sink: MessageSink, options: ListenerOptions) -> None:
        self._dsn = dsn
        self._sink = sink
        self._options = options
        self._session: Any = None
        self._lost = asyncio.Event()
        self._turn = asyncio.Lock()  # the driver runs one command at a time and refuses the second

    @override
    async def open(self) -> None:
        self._session = await asyncpg.connect(
            self._dsn,
            timeout=self._options.connect_timeout.total_seconds(),
            command_timeout=self._options.command_timeout.total_seconds(),
            statement_cache_size=0,
            server_settings=self._server_settings(),
        )
        self._session.add_termination_listener(lambda _: self._lost.set())

    @override
    async def listen(self, channel: str) -> None:
        async with self._turn:
            await self._session.add_listener(channel, self._heard)

    @override
    async def notify(self, channel: str, text: str) -> None:
        async with self._turn:
            await self._session.execute("SELECT pg_notify($1, $2)", channel, text)

    @override
    async def receive(self) -> None:
        if not self._session.is_closed():  # it may have ended before the listener for that was in place
            await self._lost.wait()
        raise BackendUnavailable("the database ended the listening session")

    @override
    async def close(self) -> None:
        if self._session is None:
            return
        try:
            await self._session.close(timeout=HANG_UP_SECONDS)
        except Exception:  # noqa: BLE001 - a session in any state ends here
            self._session.terminate()

    def _server_settings(self) -> dict[str, str]:
        return {
            "application_name": "headrace topics",
            "synchronous_commit": "off",  # a message that is lost with the server is lost anyway
            "statement_timeout": str(int(self._options.command_timeout.total_seconds() * 1000)),
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
        }

    def _heard(self, _session: object, _pid: int, channel: str, text: str) -> None:
        self._sink(channel, text)
