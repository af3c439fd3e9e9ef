"""Events: the feed of what changed in a tenant, appended by the outbox relay."""

from headrace.om.events.manager import EventsManagerInterface

__all__ = ["EventsManagerInterface"]
