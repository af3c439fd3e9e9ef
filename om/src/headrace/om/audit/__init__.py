"""Audit: what happened that somebody may ask about later, appended and never changed."""

from headrace.om.audit.manager import AuditManagerInterface

__all__ = ["AuditManagerInterface"]
