"""The ORM base: every table takes its schema from the role map."""

from datetime import datetime
from typing import Any, ClassVar, override

from sqlalchemy import DateTime, MetaData
from sqlalchemy.orm import DeclarativeBase, declared_attr

from headrace.om.storage.roles import TABLE_ROLES


class Table(DeclarativeBase):
    """The base of every table class; `__tablename__` must be a key of `TABLE_ROLES`."""

    metadata = MetaData()
    # An instant is one wherever it is read: none is stored without its zone.
    type_annotation_map: ClassVar[dict[Any, Any]] = {datetime: DateTime(timezone=True)}

    @declared_attr.directive
    @override
    def __table_args__(cls) -> dict[str, str]:  # noqa: N805 - SQLAlchemy passes the class
        """Return the schema that the role map gives this table."""
        return {"schema": str(TABLE_ROLES[cls.__tablename__])}
