"""The table of the events namespace."""

from headrace.om.events.storage.tables.events import EventRow

__all__ = ["EventRow"]
