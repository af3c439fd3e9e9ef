"""The kinds of work: one line each, so that another kind is another line."""

from enum import StrEnum


class WorkKind(StrEnum):
    """What a work item asks for; each kind has one payload model in `payloads/` and one handler in a worker."""

    DELIVER_WEBHOOK = "DELIVER_WEBHOOK"
    NOOP = "NOOP"
