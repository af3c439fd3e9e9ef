"""The bounds of an audit entry."""

from typing import Final

from headrace.om.audit.types.audit_entry import AuditEntry
from headrace.om.encoding import encode_json

MAX_DETAILS_BYTES: Final = 16 * 1024


def refuse_unstorable_details(entry: AuditEntry) -> None:
    """Return when the entry's details can be stored.

    Raises:
        ValidationFailed: They are no JSON, hold text that cannot be stored, or are too large.
    """
    encode_json("details", entry.details, limit_bytes=MAX_DETAILS_BYTES)
