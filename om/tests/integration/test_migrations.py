"""Migrations of a real server: to the newest revision, back, at once from many processes, and refused."""

import asyncio
import multiprocessing
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from headrace.om.exceptions import Conflict, PreconditionFailed, Unavailable
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.storage.migration_scripts import MigrationLimits
from headrace.om.storage.migrations import (
    _turn,
    current_revisions,
    downgrade,
    migrate,
)
from headrace.om.storage.options import DatabaseOptions, database_options
from headrace.om.storage.revisions import (
    SchemaMismatch,
    migrations_directory,
    newest_revision,
    refuse_newer_schema,
)
from headrace.om.storage.roles import DatabaseRole, Login
from headrace.om.storage.schema_check import check_migrations, schema_differences
from headrace.tools.dev import LoginUrls, PostgresServer
from infra.tests.contracts.eventually import eventually
from om.tests.contracts.outbox_storage import ORG, outbox_row
from om.tests.integration import migrate_process
from om.tests.integration.migrate_process import migrate_and_exit
from tests.fixtures.database import empty_database, settings_for

pytestmark = pytest.mark.servers

CORE = DatabaseRole.CORE
NEWEST = {role: newest_revision(role) for role in DatabaseRole}
FAR = "299912312359"
SHORT = MigrationLimits(lock_timeout=timedelta(milliseconds=200), turn_timeout=timedelta(milliseconds=300))
NUM_PROCESSES = 8
WRAPPER = """
from headrace.om.storage.migration_scripts import run_concurrently, run_down, run_up
revision = "{revision}"
down_revision = "{before}"
def upgrade() -> None:
    {up}(__file__)
def downgrade() -> None:
    run_down(__file__)
"""


@pytest.fixture
def empty_urls(postgres_server: PostgresServer) -> LoginUrls:
    return empty_database(postgres_server)


@pytest.fixture
def empty(empty_urls: LoginUrls) -> DatabaseOptions:
    return database_options(settings_for(empty_urls))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the migrations, to add revisions to."""
    return Path(shutil.copytree(migrations_directory(), tmp_path / "migrations"))


def add_revision(source: Path, up: str, *, runs: str = "run_up", name: str = f"{FAR}_more") -> None:
    sql = source / "sql" / CORE
    (sql / f"{name}.up.sql").write_text(up)
    (sql / f"{name}.down.sql").write_text("SELECT 1;")
    wrapper = WRAPPER.format(revision=FAR, before=NEWEST[CORE], up=runs)
    (source / "versions" / CORE / f"{name}.py").write_text(wrapper)


async def num_advisory_locks(options: DatabaseOptions) -> int:
    url = options.urls[CORE, Login.MIGRATION].set(drivername="postgresql")
    connection = await asyncpg.connect(url.render_as_string(hide_password=False))
    try:
        count: int = await connection.fetchval(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE locktype = 'advisory' AND datname = current_database()"
        )
        return count
    finally:
        await connection.close()


async def test_every_role_is_at_the_newest_revision_when_an_empty_database_was_migrated(
    empty: DatabaseOptions,
) -> None:
    assert await current_revisions(empty) == dict.fromkeys(DatabaseRole)
    assert await migrate(empty) == NEWEST
    assert await current_revisions(empty) == NEWEST


async def test_nothing_changes_when_migrated_again(empty: DatabaseOptions) -> None:
    assert await migrate(empty) == await migrate(empty)


async def test_only_the_named_role_is_migrated(empty: DatabaseOptions) -> None:
    assert await migrate(empty, role=DatabaseRole.ACTIVITY) == {DatabaseRole.ACTIVITY: NEWEST[DatabaseRole.ACTIVITY]}
    assert (await current_revisions(empty))[CORE] is None


async def test_no_lock_is_left_when_migrated(empty: DatabaseOptions) -> None:
    await migrate(empty)
    assert await num_advisory_locks(empty) == 0


async def test_many_tasks_migrate_an_empty_database_at_once(empty: DatabaseOptions) -> None:
    assert await asyncio.gather(*(migrate(empty) for _ in range(NUM_PROCESSES))) == [NEWEST] * NUM_PROCESSES


@pytest.mark.processes
async def test_eight_processes_migrate_an_empty_database_at_once(empty: DatabaseOptions) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([migrate_process.__name__])  # imported once, so that all begin together
    processes = [context.Process(target=migrate_and_exit, args=(empty,)) for _ in range(NUM_PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        await asyncio.to_thread(process.join, 50)
    assert [process.exitcode for process in processes] == [0] * NUM_PROCESSES
    assert await current_revisions(empty) == NEWEST


async def test_a_process_waits_for_its_turn_and_finds_nothing_left_to_do(empty: DatabaseOptions) -> None:
    async with _turn(empty, CORE, MigrationLimits()):
        waiting = asyncio.create_task(migrate(empty))
        await eventually(lambda: _is_connected(empty, num=2))
        assert not waiting.done()
    assert await waiting == NEWEST


async def _is_connected(options: DatabaseOptions, *, num: int) -> bool:
    url = options.urls[CORE, Login.MIGRATION].set(drivername="postgresql")
    connection = await asyncpg.connect(url.render_as_string(hide_password=False))
    try:
        count: int = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return count >= num
    finally:
        await connection.close()


@pytest.mark.parametrize("held", DatabaseRole)
async def test_unavailable_when_the_turn_does_not_come_whichever_role_is_migrated(
    empty: DatabaseOptions, held: DatabaseRole
) -> None:
    async with _turn(empty, held, MigrationLimits()):
        with pytest.raises(Unavailable, match="another process has been migrating the database of core"):
            await migrate(empty, limits=SHORT)
        assert await current_revisions(empty) == dict.fromkeys(DatabaseRole)
    assert await migrate(empty) == NEWEST


async def test_nothing_stays_locked_when_a_migration_is_cancelled(empty: DatabaseOptions) -> None:
    await migrate(empty)
    async with _turn(empty, CORE, MigrationLimits()):
        waiting = asyncio.create_task(migrate(empty))
        await eventually(lambda: _is_connected(empty, num=2))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await eventually(lambda: _has_no_locks(empty))


async def _has_no_locks(options: DatabaseOptions) -> bool:
    return await num_advisory_locks(options) == 0


async def test_unavailable_within_the_lock_timeout_when_a_table_is_locked(
    empty: DatabaseOptions, empty_urls: LoginUrls, postgres_server: PostgresServer
) -> None:
    await migrate(empty)
    admin = await asyncpg.connect(postgres_server.dsn(empty_urls.server_url.rpartition("/")[2]))
    async with admin.transaction():
        await admin.execute("LOCK TABLE core.outbox_rows IN ACCESS SHARE MODE")
        with pytest.raises(Unavailable, match="55P03"):
            await downgrade(empty, role=CORE, to="base", limits=SHORT)
    await admin.close()
    assert (await downgrade(empty, role=CORE, to="base"), await migrate(empty)) == (None, NEWEST)


async def test_nothing_of_a_revision_stays_when_a_statement_of_it_fails(empty: DatabaseOptions, source: Path) -> None:
    add_revision(source, "CREATE TABLE core.more (id int);\nSELECT 1 / 0;")
    with pytest.raises(Exception, match="SQLSTATE 22012"):
        await migrate(empty, source=source)
    assert (await current_revisions(empty))[CORE] == NEWEST[CORE]
    add_revision(source, "CREATE TABLE core.more (id int);")
    assert (await migrate(empty, source=source))[CORE] == FAR


async def test_an_index_that_an_interrupted_run_left_invalid_is_made_again(
    empty: DatabaseOptions, empty_urls: LoginUrls, postgres_server: PostgresServer, source: Path
) -> None:
    await migrate(empty)
    database = Database(empty)
    storage = OutboxStoragePostgresImpl(database)
    for _ in range(2):
        await storage.create_row(ORG, outbox_row())
    add_revision(
        source,
        "-- Twice the same kind: fails; see below.\nCREATE UNIQUE INDEX CONCURRENTLY more ON core.outbox_rows (kind);",
        runs="run_concurrently",
    )
    with pytest.raises(Conflict, match="23505"):
        await migrate(empty, source=source)
    admin = await asyncpg.connect(postgres_server.dsn(empty_urls.server_url.rpartition("/")[2]))
    is_valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'core.more'::regclass"
    assert await admin.fetchval(is_valid) is False
    assert (await current_revisions(empty))[CORE] == NEWEST[CORE]
    await admin.execute("DELETE FROM core.outbox_rows")
    assert (await migrate(empty, source=source))[CORE] == FAR
    assert await admin.fetchval(is_valid) is True
    await admin.close()
    await database.close()


async def test_processes_that_wait_do_not_hold_up_an_index_that_is_made_concurrently(
    empty: DatabaseOptions, source: Path
) -> None:
    add_revision(source, "CREATE INDEX CONCURRENTLY more ON core.outbox_rows (kind);", runs="run_concurrently")
    reached = await asyncio.gather(*(migrate(empty, source=source) for _ in range(4)))
    assert [each[CORE] for each in reached] == [FAR] * 4


async def test_a_process_starts_when_the_schemas_are_at_its_revisions(database: Database) -> None:
    await refuse_newer_schema(database)


async def test_a_process_refuses_a_newer_schema_and_names_both_revisions(empty: DatabaseOptions, source: Path) -> None:
    add_revision(source, "CREATE TABLE core.more (id int);")
    await migrate(empty, source=source)
    database = Database(empty)
    with pytest.raises(SchemaMismatch, match=f"core is at revision {FAR}, newer than {NEWEST[CORE]}"):
        await refuse_newer_schema(database)
    await database.close()


async def test_migrations_refuse_a_newer_schema_and_leave_it(empty: DatabaseOptions, source: Path) -> None:
    add_revision(source, "CREATE TABLE core.more (id int);")
    await migrate(empty, source=source)
    with pytest.raises(SchemaMismatch, match=f"{FAR}, newer than {NEWEST[CORE]}"):
        await migrate(empty)
    assert (await current_revisions(empty))[CORE] == FAR


async def test_a_process_refuses_an_older_schema_and_names_both_revisions(empty: DatabaseOptions) -> None:
    await migrate(empty)
    before = await downgrade(empty, role=CORE)
    database = Database(empty)
    with pytest.raises(SchemaMismatch, match=f"core is at revision {before or 'none'}, older than {NEWEST[CORE]}"):
        await refuse_newer_schema(database)
    await database.close()


async def test_a_process_refuses_a_database_that_was_never_migrated(empty: DatabaseOptions) -> None:
    database = Database(empty)
    with pytest.raises(SchemaMismatch, match=f"core is at revision none, older than {NEWEST[CORE]}"):
        await refuse_newer_schema(database)
    await database.close()


async def test_the_sentence_names_the_setting_when_there_is_no_migration_login(empty: DatabaseOptions) -> None:
    urls = {key: url for key, url in empty.urls.items() if key[1] is not Login.MIGRATION}
    with pytest.raises(PreconditionFailed, match="database_migration_password"):
        await migrate(replace(empty, urls=urls))


async def test_unavailable_when_the_server_is_not_there(empty: DatabaseOptions) -> None:
    urls = {key: url.set(port=1) for key, url in empty.urls.items()}
    with pytest.raises(Unavailable):
        await migrate(replace(empty, urls=urls))


async def test_the_object_model_and_the_schema_agree(database_options: DatabaseOptions) -> None:
    assert await schema_differences(database_options) == ()


async def test_the_check_finds_a_column_that_only_one_side_has(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    await admin_connection.execute("ALTER TABLE core.outbox_rows RENAME last_error TO final_error")
    try:
        found = await schema_differences(database_options)
    finally:
        await admin_connection.execute("ALTER TABLE core.outbox_rows RENAME final_error TO last_error")
    assert [sentence.split()[:3] for sentence in found] == [
        ["schema", "core:", "add_column"],
        ["schema", "core:", "remove_column"],
    ]


async def test_the_newest_revisions_go_back_and_forth(empty: DatabaseOptions) -> None:
    assert await check_migrations(empty) == ()


async def test_the_check_refuses_a_database_with_rows(empty: DatabaseOptions) -> None:
    await migrate(empty)
    database = Database(empty)
    await OutboxStoragePostgresImpl(database).create_row(ORG, outbox_row())
    with pytest.raises(PreconditionFailed, match=r"core\.outbox_rows holds rows"):
        await check_migrations(empty)
    await database.close()


async def test_every_chain_goes_back_to_nothing_and_forth_again(empty: DatabaseOptions) -> None:
    await migrate(empty)
    for role in DatabaseRole:
        assert await downgrade(empty, role=role, to="base") is None
    assert await migrate(empty) == NEWEST
    assert await schema_differences(empty) == ()


def test_every_revision_has_its_two_scripts_and_its_stamp() -> None:
    source = migrations_directory()
    wrappers = {(path.parent.name, path.stem) for path in (source / "versions").glob("*/*.py")}
    scripts = {(path.parent.name, path.name) for path in (source / "sql").glob("*/*.sql")}
    assert scripts == {(role, f"{stem}.{way}.sql") for role, stem in wrappers for way in ("up", "down")}
    assert all(stem[:12].isdigit() and stem[12] == "_" for _, stem in wrappers)
