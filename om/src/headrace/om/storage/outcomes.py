"""What a create reports instead of raising a driver's error."""

from enum import StrEnum


class InsertOutcome(StrEnum):
    """How an insert ended; an existing row is never touched."""

    INSERTED = "inserted"
    ID_EXISTS = "id_exists"
    KEY_EXISTS = "key_exists"
