"""Durable background work: the queue."""

from headrace.om.work.manager import WorkManagerInterface

__all__ = ["WorkManagerInterface"]
