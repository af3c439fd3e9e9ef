"""What several modules of plans stand on: made once for a pytest process."""

from collections.abc import Iterator

import pytest

from headrace.tools.dev import PostgresServer
from om.tests.integration.crowd import crowded_database


@pytest.fixture(scope="session")
def crowd(postgres_server: PostgresServer, database_template: str) -> Iterator[str]:
    """The superuser's URL of the database with two million rows; a module leaves it as it found it."""
    with crowded_database(postgres_server, database_template) as dsn:
        yield dsn
