"""The table of the audit namespace."""

from headrace.om.audit.storage.tables.audit_entries import AuditEntryRow

__all__ = ["AuditEntryRow"]
