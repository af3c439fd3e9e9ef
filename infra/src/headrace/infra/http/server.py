"""An HTTP server as one task of a process: it owns a port and no signals."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, override

import uvicorn
from fastapi import FastAPI

from headrace.infra.exceptions import ConfigurationInvalid

# Probes and scrapes take milliseconds; a connection that is still busy after this is cut.
_GRACE_SECONDS = 1


class EmbeddedServer:
    """Serves an application on a port that is bound before the process calls itself ready.

    Use it as a context manager among the process's resources, and `run` as one of its tasks.

    Args:
        app: What answers.
        host: Address or name to listen on.
        port: 0 takes any free port, which `port` then tells.
    """

    def __init__(self, app: FastAPI, *, host: str, port: int) -> None:
        self._app = app
        self._host = host
        self._wanted_port = port
        self._socket: socket.socket | None = None

    @property
    def port(self) -> int:
        """The bound port; the wanted one while nothing is bound."""
        return self._wanted_port if self._socket is None else int(self._socket.getsockname()[1])

    def __enter__(self) -> Self:
        self.bind()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def bind(self) -> int:
        """Takes the port. From now on clients can connect; they are answered once `run` runs. Safe twice.

        Returns:
            The bound port.

        Raises:
            ConfigurationInvalid: The port is taken or the address is not this host's; nothing is bound.
        """
        if self._socket is None:
            self._socket = _listen(self._host, self._wanted_port)
        return self.port

    def close(self) -> None:
        """Gives the port back. Safe twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def run(self, stop: asyncio.Event) -> None:
        """Serves until `stop` is set, then lets requests under way end for a second and gives the port back.

        A cancel closes the listener and idle connections at once. Binds first when nobody has.
        """
        self.bind()
        server = _Server(_config(self._app))
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(_exit_on(stop, server))
            try:
                await server.serve(sockets=[self._socket] if self._socket else None)
            finally:
                watcher.cancel()
                server.drop()
                self.close()


class _Server(uvicorn.Server):
    """Uvicorn without its hands on the process's signals."""

    @contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield

    def drop(self) -> None:
        """Lets go of listeners and connections that a cancelled `serve` leaves behind."""
        for listener in getattr(self, "servers", ()):
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


async def _exit_on(stop: asyncio.Event, server: uvicorn.Server) -> None:
    await stop.wait()
    server.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationInvalid(
            f"cannot listen on {host} port {port}: {error.strerror or error};"
            " set HEADRACE_METRICS_PORT to a free port, or to 0 for any"
        ) from error
