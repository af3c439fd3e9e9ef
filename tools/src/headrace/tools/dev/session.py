"""The local stack's ground: servers that answer, the three logins, and the settings that name them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headrace.tools.dev.logins import LoginUrls, create_logins
from headrace.tools.dev.postgres import run_apart
from headrace.tools.dev.providers import REDIS_VARIABLE, LocalServers, Wishes, provide


@dataclass(frozen=True, slots=True)
class Ground:
    """What a process of the platform can be started upon.

    Attributes:
        servers: The servers, all of which answer.
        logins: The three logins to the platform's database.
    """

    servers: LocalServers
    logins: LoginUrls

    def environment(self) -> dict[str, str]:
        """Returns the settings of a process as environment variables; they hold passwords."""
        variables = self.logins.environment()
        if self.servers.redis_url is not None:
            variables[REDIS_VARIABLE] = self.servers.redis_url
        return variables


@contextmanager
def ground(state: Path, environment: Mapping[str, str], wishes: Wishes | None = None) -> Iterator[Ground]:
    """Gives servers and logins, and stops on leaving what it started; see `headrace.tools.dev.providers.provide`.

    Raises:
        DevServerError: The servers cannot be had, or the logins cannot be created.
    """
    with provide(state, environment, wishes) as servers:
        logins = run_apart(lambda: create_logins(servers.database_url))
        yield Ground(servers=servers, logins=logins)
