import asyncio

import asyncpg
import pytest

from headrace.om.exceptions import PreconditionFailed, Unavailable
from headrace.om.storage.errors import translated

LOST = (
    ConnectionResetError(),
    TimeoutError(),
    asyncio.IncompleteReadError(b"", 1),
    asyncpg.InterfaceError("connection is closed"),
    # What asyncpg raised when a postmaster was killed under load.
    asyncpg.InternalClientError("cannot switch to state 15; another operation (2) is in progress"),
)


@pytest.mark.parametrize("error", LOST, ids=lambda error: type(error).__name__)
def test_the_error_is_retryable_when_the_driver_lost_its_connection(error: Exception) -> None:
    assert isinstance(translated(error), Unavailable)


def test_nothing_is_made_of_it_when_an_error_is_not_the_databases() -> None:
    assert translated(ValueError("a handler's own")) is None


@pytest.mark.parametrize("error", [asyncpg.InvalidPasswordError(""), asyncpg.InvalidCatalogNameError("")])
def test_the_settings_are_named_when_the_database_refuses_the_login_or_its_name(error: Exception) -> None:
    told = translated(error)
    assert isinstance(told, PreconditionFailed)
    assert "database_url" in str(told)
