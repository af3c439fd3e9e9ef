"""The kinds of work: one line each, so that another kind is another line."""

from enum import StrEnum


class WorkKind(StrEnum):
    """What a work item asks for; each kind has one payload model in `payloads/` and one handler in a worker."""

    DELIVER_WEBHOOK = "DELIVER_WEBHOOK"
    NOOP = "NOOP"

    @classmethod
    def read(cls, text: str) -> "WorkKind":
        """Return the kind that a stored row names; never raises.

        Another release may have enqueued a kind that this one does not know. It gets a stand-in that compares and
        shows as its text: such items are listed, swept, cancelled and purged like any other, and never run here.
        """
        known = cls._value2member_map_.get(text)
        if isinstance(known, cls):
            return known
        stranger = str.__new__(cls, text)
        stranger._name_ = stranger._value_ = text
        return stranger

    @property
    def is_known(self) -> bool:
        """Whether this release has a payload model for the kind, so that it can be enqueued and run."""
        return self._value_ in type(self)._value2member_map_
