"""Local servers for developers and tests: finds or starts PostgreSQL and Redis, and creates the three logins.

Everything listens on 127.0.0.1 only, keeps its state below one folder and leaves no account on the machine.
"""

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.logins import LoginUrls, create_logins, login_urls
from headrace.tools.dev.postgres import PostgresServer
from headrace.tools.dev.providers import LocalServers, provide
from headrace.tools.dev.redis import RedisServer

__all__ = [
    "DevServerError",
    "LocalServers",
    "LoginUrls",
    "PostgresServer",
    "RedisServer",
    "create_logins",
    "login_urls",
    "provide",
]
