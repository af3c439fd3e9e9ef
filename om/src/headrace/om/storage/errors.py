"""What a database error means: in this one place it becomes an error of the object model, retryable or not."""

import asyncio
from typing import Final

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.exc import TimeoutError as CheckoutTimeout

from headrace.om.exceptions import Conflict, PlatformException, PreconditionFailed, Unavailable, ValidationFailed

TRANSIENT_CLASSES: Final = frozenset({"08", "40", "53", "57", "58"})
"""SQLSTATE classes that pass: connection, rollback (deadlock, serialization), resources, operator, system.

Source: PostgreSQL documentation, appendix A, error codes.
"""

TRANSIENT_STATES: Final = frozenset(
    {
        "25006",  # read-only transaction: a failover is under way
        "25P03",  # idle-in-transaction timeout ended the session
        "25P04",  # transaction timeout
        "55P03",  # lock not available within the lock timeout
        "0A000",  # a cached plan met a changed table; a new transaction plans again
        "26000",  # a prepared statement is gone: a pooler changed the server under it
    }
)

CONNECTION_FAULTS: Final = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the driver, when a statement meets a server's farewell that is half read
)
"""What the driver raises, besides the server's own errors, when a connection is lost or cannot be had."""

DATA_CLASS: Final = "22"
LOGIN_CLASS: Final = "28"
NO_SUCH_DATABASE: Final = "3D000"
INTEGRITY_CLASS: Final = "23"


def translated(error: BaseException) -> PlatformException | None:
    """Return what a driver's error means to the object model, or None where it is no database error.

    Data errors are permanent (`ValidationFailed`); lost connections, deadlocks, failovers, timeouts and
    admission errors are `Unavailable`, which is retryable in a new transaction.
    """
    if isinstance(error, CheckoutTimeout):
        return Unavailable("no database connection became free within database_pool_timeout")
    if isinstance(error, DBAPIError | asyncpg.PostgresError):
        return _of_state(_state_of(error), error)
    if isinstance(error, CONNECTION_FAULTS):
        return Unavailable(f"the database cannot be reached ({type(error).__name__})")
    return None


def _state_of(error: DBAPIError | asyncpg.PostgresError) -> str | None:
    source = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(source, "sqlstate", None)
    return state if isinstance(state, str) else None


def _of_state(state: str | None, error: BaseException) -> PlatformException | None:
    if state is None:
        lost = isinstance(error, InterfaceError | asyncpg.InterfaceError) or getattr(
            error, "connection_invalidated", False
        )
        return Unavailable("the database connection was lost") if lost else None
    if state in TRANSIENT_STATES or state[:2] in TRANSIENT_CLASSES:
        return Unavailable(f"the database refused for now (SQLSTATE {state})")
    if state.startswith(DATA_CLASS):
        return ValidationFailed("value", f"something the database can hold (SQLSTATE {state})")
    if state.startswith(LOGIN_CLASS) or state == NO_SUCH_DATABASE:
        return PreconditionFailed(
            f"the database refuses the login or has no such name (SQLSTATE {state}):"
            " check database_url and the user and password of each login"
        )
    if state.startswith(INTEGRITY_CLASS):
        return Conflict(f"a rule of the database refused the write (SQLSTATE {state})")
    return None
