"""Inserts that report instead of raising what the driver raises."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headrace.om.base import Identifiable
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.storage.tables import Table

_UNIQUE_VIOLATION: Final = "23505"
_FOREIGN_KEY_VIOLATION: Final = "23503"


class NotInserted(Exception):  # noqa: N818 - an outcome that undoes its transaction on the way out, no error
    """Leaves a transaction, which is rolled back, with what the insert reports."""

    def __init__(self, outcome: InsertOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class ReferenceMissing(Exception):  # noqa: N818 - likewise
    """Leaves a transaction, which is rolled back, because a record that the new one names is not there."""


async def insert_entity(session: AsyncSession, table: type[Table], entity: Identifiable, **columns: Any) -> None:  # noqa: ANN401 - any column's value
    """Insert an entity's fields, and columns that are none, into the table of the same columns.

    Raises:
        NotInserted: Its id, or one of its unique keys, is taken.
        ReferenceMissing: A record that it names is not there.
    """
    values = {name: getattr(entity, name) for name in type(entity).model_fields} | columns
    # Only the id arbitrates: a conflict over another key raises, and so the two are told apart.
    statement = insert(table).values(values).on_conflict_do_nothing(index_elements=["id"])
    with _reporting():
        inserted = await session.scalar(statement.returning(table.__table__.c.id))
    if inserted is None:
        raise NotInserted(InsertOutcome.ID_EXISTS)


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        state = getattr(error.orig, "sqlstate", None)
        if state == _UNIQUE_VIOLATION:
            raise NotInserted(InsertOutcome.KEY_EXISTS) from error
        if state == _FOREIGN_KEY_VIOLATION:
            raise ReferenceMissing from error
        raise
