"""What the console is made of, put together once: settings, storage, toolkits, managers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headrace.infra.secrets import WritableSecretsInterface
from headrace.infra.secrets.impl.file import SecretsFileImpl
from headrace.infra.settings import refuse_local_backends
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import database_options
from headrace.om.storage.revisions import refuse_newer_schema
from headrace.om.storage.root import StorageInterface
from headrace.workers.console.settings import ConsoleSettings
from headrace.workers.kit.backends import build_infra


@dataclass(frozen=True, slots=True)
class ConsoleContainer:
    """The console's parts. Making them opens nothing; `opened` does.

    Attributes:
        database: What the storage is over; None over memory.
        local_secrets: Where a generated signing secret is kept; None where the settings name no folder.
    """

    settings: ConsoleSettings
    storage: StorageInterface
    infra: Infra
    managers: Managers
    database: Database | None
    local_secrets: WritableSecretsInterface | None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Check the schema and start the toolkits around the body; close everything, wake-ups sent, on leaving.

        Raises:
            SchemaMismatch: The schema is of another version; nothing was started.
            Unavailable: The database cannot be reached; nothing was started.
        """
        try:
            if self.database is not None:
                await refuse_newer_schema(self.database)
            await self.infra.start()
            yield
        finally:
            await self.infra.close()
            await self.storage.close()


def build(settings: ConsoleSettings) -> ConsoleContainer:
    """Return the console over the backends that the settings name.

    Raises:
        ConfigurationInvalid: An address cannot be read, or a backend is local-only in staging or production.
    """
    refuse_local_backends(settings)
    database = Database(database_options(settings))
    storage = StoragePostgresImpl(database, fair_share=settings.fair_share)
    return _container(settings, storage, build_infra(settings), database)


def for_tests(settings: ConsoleSettings, storage: StorageInterface, infra: Infra) -> ConsoleContainer:
    """Return the console over a given storage and given toolkits."""
    return _container(settings, storage, infra, None)


def _container(
    settings: ConsoleSettings, storage: StorageInterface, infra: Infra, database: Database | None
) -> ConsoleContainer:
    return ConsoleContainer(
        settings=settings,
        storage=storage,
        infra=infra,
        managers=build_managers(storage, infra),
        database=database,
        local_secrets=_local_secrets(settings),
    )


def _local_secrets(settings: ConsoleSettings) -> WritableSecretsInterface | None:
    return None if settings.secrets_dir is None else SecretsFileImpl(settings.secrets_dir)
