"""The cache in Redis or a server that speaks its protocol."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, override
from uuid import UUID

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from headrace.infra.addresses import REDIS_SCHEMES, check_scheme, shown_address
from headrace.infra.cache import LISTED_SCOPES, CacheInterface, CacheScope, check_counts, check_listing, checked_ttl
from headrace.infra.outages import Outage

logger = logging.getLogger(__name__)

# One step, so that the index of a listed scope never disagrees with the values, on the server's clock alone.
# The pair of times is read inside, since a worker's clock must not decide what another one sees.
PUT_LISTED: Final = """
local now = redis.call('TIME')
local expires_ms = now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2]
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], expires_ms, ARGV[3])
local index_ms = redis.call('PTTL', KEYS[2])
if index_ms < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return 1
"""

LIST_KEYS: Final = """
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms)
return redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)
"""


@dataclass(frozen=True, kw_only=True)
class CacheRedisOptions:
    """Bounds of the Redis cache.

    Attributes:
        namespace: First part of every key; keeps installations that share a server apart.
        connect_timeout: The longest wait for a connection.
        op_timeout: The longest that one call may take altogether, a new connection included.
        retry_pause: After a failure, calls are misses at once for this long, so that an outage costs little.
        max_connections: Size of the connection pool.
    """

    namespace: str = "headrace"
    connect_timeout: timedelta = timedelta(milliseconds=500)
    op_timeout: timedelta = timedelta(milliseconds=500)
    retry_pause: timedelta = timedelta(milliseconds=200)
    max_connections: int = 20


class CacheRedisImpl(CacheInterface):
    """Values in Redis, shared by every process of the installation; bounded calls, no retries of its own.

    A call is never repeated, since an addition whose answer was lost may have happened.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://`` address.
        options: Bounds.
        clock: Seconds on a clock that never goes back; measures the pause after a failure.

    Raises:
        ConfigurationInvalid: The address is not one of these.
    """

    def __init__(
        self,
        url: str,
        options: CacheRedisOptions | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_scheme("redis cache", url, REDIS_SCHEMES)
        self._url = url
        self._options = options or CacheRedisOptions()
        self._client: Redis | None = None
        self._outage = Outage(self.describe(), logger, pause=self._options.retry_pause, clock=clock)

    @override
    async def start(self) -> None:
        if self._client is None:
            self._client = _client(self._url, self._options)

    @override
    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @override
    async def get(self, scope: CacheScope, org_id: UUID, key: str) -> str | None:
        value = await self._ask(lambda client: client.get(self._entry(scope, org_id, key)))
        return value if isinstance(value, str) else None

    @override
    async def put(self, scope: CacheScope, org_id: UUID, key: str, value: str, *, ttl: timedelta) -> bool:
        entry, ttl_ms = self._entry(scope, org_id, key), _milliseconds(ttl)
        if scope not in LISTED_SCOPES:
            return bool(await self._ask(lambda client: client.set(entry, value, px=ttl_ms)))
        index = self._index(scope, org_id)
        return bool(await self._ask(lambda client: client.eval(PUT_LISTED, 2, entry, index, value, ttl_ms, key)))

    @override
    async def invalidate(self, scope: CacheScope, org_id: UUID, key: str) -> bool:
        answers = await self._ask(lambda client: self._remove(client, scope, org_id, key))
        return isinstance(answers, list) and bool(answers) and bool(answers[0])

    @override
    async def increment(self, scope: CacheScope, org_id: UUID, key: str, *, by: int = 1, ttl: timedelta) -> int | None:
        check_counts(scope, by)
        entry, ttl_ms = self._entry(scope, org_id, key), _milliseconds(ttl)
        answers = await self._ask(lambda client: _add(client, entry, by, ttl_ms))
        match answers:
            case [_, int(count)]:
                return count
        return None

    @override
    async def keys(self, scope: CacheScope, org_id: UUID, limit: int) -> tuple[str, ...]:
        check_listing(scope, limit)
        index = self._index(scope, org_id)
        found = await self._ask(lambda client: client.eval(LIST_KEYS, 1, index, limit))
        return tuple(sorted(key for key in found if isinstance(key, str))) if isinstance(found, list) else ()

    @override
    def describe(self) -> str:
        return f"redis cache at {shown_address(self._url)}, namespace {self._options.namespace}"

    async def _ask(self, call: Callable[[Redis], Awaitable[Any]]) -> Any:  # noqa: ANN401 - each command answers its own
        """Make one bounded call; None stands for every way in which the answer did not come."""
        if self._client is None or not self._outage.is_worth_trying():
            return None
        try:
            async with asyncio.timeout(self._options.op_timeout.total_seconds()):
                answer = await call(self._client)
        except ResponseError as error:  # the server is there and says no to this command
            logger.warning("redis refused a cache command: %s", error)
            return None
        except Exception as error:  # noqa: BLE001 - a miss is promised, also where the driver trips over an odd answer
            self._outage.failed(error)
            return None
        self._outage.recovered()
        return answer

    def _remove(self, client: Redis, scope: CacheScope, org_id: UUID, key: str) -> Awaitable[list[Any]]:
        pipeline = client.pipeline(transaction=True)
        pipeline.delete(self._entry(scope, org_id, key))
        pipeline.zrem(self._index(scope, org_id), key)
        return pipeline.execute()

    def _entry(self, scope: CacheScope, org_id: UUID, key: str) -> str:
        return f"{self._home(scope, org_id)}:v:{key}"

    def _index(self, scope: CacheScope, org_id: UUID) -> str:
        return f"{self._home(scope, org_id)}:index"

    def _home(self, scope: CacheScope, org_id: UUID) -> str:
        # The braces keep a tenant's values and their index on one node of a cluster.
        return f"{{{self._options.namespace}:{scope}:{org_id}}}"


def _client(url: str, options: CacheRedisOptions) -> Redis:
    # A pool that makes callers wait: the plain one refuses the caller above its size.
    pool = BlockingConnectionPool.from_url(
        url,
        decode_responses=True,
        encoding_errors="surrogatepass",  # any Python text may be a key or a value
        protocol=2,
        max_connections=options.max_connections,
        socket_connect_timeout=options.connect_timeout.total_seconds(),
        socket_timeout=options.op_timeout.total_seconds(),
        timeout=options.op_timeout.total_seconds(),
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


def _add(client: Redis, entry: str, by: int, ttl_ms: int) -> Awaitable[list[Any]]:
    # The lifetime is set where the counter is made, in the same transaction, so that no counter lives for ever.
    pipeline = client.pipeline(transaction=True)
    pipeline.set(entry, 0, px=ttl_ms, nx=True)
    pipeline.incrby(entry, by)
    return pipeline.execute()


def _milliseconds(ttl: timedelta) -> int:
    return checked_ttl(ttl) // timedelta(milliseconds=1)
