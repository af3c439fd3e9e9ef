"""The worker over TLS with a PostgreSQL that an authority of its own vouches for, as it does for managed servers."""

import asyncio
from pathlib import Path

import asyncpg
import pytest
import trustme

from headrace.infra.background.runtime import ExitCode
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.tools.dev import LoginUrls, PostgresServer
from headrace.tools.dev.logins import create_logins
from headrace.tools.dev.privileges import server_identity
from tests.fixtures.database import settings_for
from tests.fixtures.servers import NewServerFolder, StartPostgres
from tests.fixtures.workers import StartWorker

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(180)]

MODULE = "headrace.workers.maintenance.main"


@pytest.fixture
def authority() -> trustme.CA:
    """Who vouches for the server's address."""
    return trustme.CA()


@pytest.fixture
def server(
    authority: trustme.CA,
    new_server_folder: NewServerFolder,
    start_postgres: StartPostgres,
    monkeypatch: pytest.MonkeyPatch,
) -> PostgresServer:
    """A server that takes connections with and without TLS; the test itself has its own without."""
    monkeypatch.setenv("PGSSLMODE", "disable")
    issued, folder = authority.issue_cert("127.0.0.1"), new_server_folder("certificate")
    certificate, key = folder / "server.crt", folder / "server.key"
    issued.cert_chain_pems[0].write_to_path(certificate)
    key.touch(mode=0o600)
    issued.private_key_pem.write_to_path(key)
    for file in (certificate, key):
        server_identity().own(file)
    return start_postgres(settings={"ssl": "on", "ssl_cert_file": str(certificate), "ssl_key_file": str(key)})


async def prepared(server: PostgresServer) -> LoginUrls:
    """Make the logins and the schemas."""
    urls = await create_logins(await asyncio.to_thread(server.create_database, "headrace"))
    await migrate(database_options(settings_for(urls)))
    return urls


def verifying(authority: trustme.CA, folder: Path) -> dict[str, str]:
    """What a task is told where a bundle of authorities is in its image."""
    bundle = folder / "authorities.pem"
    authority.cert_pem.write_to_path(bundle)
    return {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(bundle)}


async def unencrypted(server: PostgresServer) -> list[str]:
    """The logins that have a connection without TLS, and 'none' where there is no connection of any."""
    connection = await asyncpg.connect(server.dsn("headrace"))
    try:
        found = await connection.fetch(
            "SELECT usename, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename LIKE 'headrace%'"
        )
    finally:
        await connection.close()
    return [each["usename"] for each in found if not each["ssl"]] if found else ["none"]


async def test_every_connection_is_encrypted_and_verified_when_the_authority_is_known(
    server: PostgresServer, authority: trustme.CA, start_worker: StartWorker, tmp_path: Path
) -> None:
    environment = (await prepared(server)).environment() | verifying(authority, tmp_path)
    await start_worker(environment, module=MODULE, is_fresh=True).ready()
    assert await unencrypted(server) == []


async def test_the_worker_does_not_start_when_another_authority_is_known(
    server: PostgresServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    environment = (await prepared(server)).environment() | verifying(trustme.CA(), tmp_path)
    worker = start_worker(environment, module=MODULE, is_fresh=True)
    assert await worker.ended() == ExitCode.START_FAILED
    assert "certificate" in worker.output.lower()
    assert await unencrypted(server) == ["none"]


async def test_the_worker_does_not_start_when_the_certificate_names_another_host(
    authority: trustme.CA, server: PostgresServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    environment = (await prepared(server)).environment() | verifying(authority, tmp_path)
    renamed = {name: value.replace("127.0.0.1", "localhost") for name, value in environment.items()}
    worker = start_worker(renamed, module=MODULE, is_fresh=True)
    assert await worker.ended() == ExitCode.START_FAILED
    assert "localhost" in worker.output
