"""The settings of a process that reaches the databases; reading them loads no driver, so that probes stay light."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, SecretStr

from headrace.infra.settings import Duration, ProcessSettings, within
from headrace.infra.topics.wakeups import DEFAULT_WINDOW
from headrace.om.storage.roles import LOGIN_NAMES, Login


class StorageSettings(ProcessSettings):
    """Where the databases are, who connects, and what bounds every pool and statement.

    A login's user and password replace those in the URLs, so that one URL serves all three logins.
    """

    database_url: SecretStr = Field(description="PostgreSQL server and database, postgresql://HOST:PORT/NAME")
    database_core_url: SecretStr | None = Field(default=None, description="The core role's, where it has its own")
    database_activity_url: SecretStr | None = Field(
        default=None, description="The activity role's, where it has its own"
    )
    database_queue_url: SecretStr | None = Field(default=None, description="The queue role's, where it has its own")
    database_listen_url: SecretStr | None = Field(
        default=None, description="Direct URL for LISTEN where database_queue_url goes through a pooler"
    )
    database_runtime_user: str = Field(default=LOGIN_NAMES[Login.RUNTIME], description="The runtime login's name")
    database_runtime_password: SecretStr = Field(description="The runtime login's password")
    database_system_user: str = Field(default=LOGIN_NAMES[Login.SYSTEM], description="The system login's name")
    database_system_password: SecretStr = Field(description="The system login's password")
    database_migration_user: str = Field(default=LOGIN_NAMES[Login.MIGRATION], description="The migration login's name")
    database_migration_password: SecretStr | None = Field(
        default=None, description="The migration login's password; only `headrace migrate` needs it"
    )
    database_pool_size: int = Field(default=10, ge=1, le=500, description="Connections of the main pool, a login each")
    database_control_pool_size: int = Field(
        default=3, ge=2, le=50, description="Connections kept for renewals, settlements, claims and the sweep"
    )
    database_pool_timeout: Annotated[Duration, within("10ms", "5m")] = Field(
        default=timedelta(seconds=5), description="How long a checkout waits before it is Unavailable"
    )
    database_connection_max_age: Annotated[Duration, within("1s", "7d")] = Field(
        default=timedelta(minutes=30), description="A connection older than this is replaced at its next checkout"
    )
    database_connect_timeout: Annotated[Duration, within("10ms", "5m")] = Field(
        default=timedelta(seconds=5), description="How long opening a connection may take"
    )
    database_statement_timeout: Annotated[Duration, within("10ms", "1d")] = Field(
        default=timedelta(seconds=10), description="How long one statement may run"
    )
    database_lock_timeout: Annotated[Duration, within("10ms", "1d")] = Field(
        default=timedelta(seconds=5), description="How long one statement may wait for a lock"
    )
    database_idle_in_transaction_timeout: Annotated[Duration, within("100ms", "1d")] = Field(
        default=timedelta(seconds=15), description="How long a transaction may sit idle"
    )
    database_transaction_pooler: bool = Field(
        default=False,
        description="The URLs go through a pooler in transaction mode: no prepared statements, no session state",
    )
    wakeup_window: Annotated[Duration, within("0s", "1h")] = Field(
        default=DEFAULT_WINDOW, description="At most one wake-up a lane is published within this time"
    )
    fair_share: bool = Field(
        default=True,
        description="Claims go round the orgs, so that one's many items do not starve another's few; an item is marked"
        " when it is enqueued, so set it alike everywhere",
    )
