"""The webhook endpoint: where a tenant wants to hear of its events."""

from typing import ClassVar, Final

from pydantic import AwareDatetime, Field

from headrace.om.base import PROVENANCE_FIELDS, Identifiable, Named, Trackable

MAX_URL_LENGTH: Final = 2048
MAX_SECRET_REFERENCE_LENGTH: Final = 200
MAX_EVENT_TYPES: Final = 100
MAX_REASON_LENGTH: Final = 500


class WebhookEndpoint(Identifiable, Named, Trackable):
    """One URL of a tenant that messages are posted to, signed with the secret that the reference names.

    A caller fills in the name, the URL, the secret's reference and the filter. Everything else is the
    manager's, whatever the caller sent: an endpoint starts enabled, at version 1, without failures.
    """

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {
        "enabled",
        "disabled_reason",
        "version",
        "num_consecutive_failures",
        "failing_since",
    }

    url: str = Field(min_length=1, max_length=MAX_URL_LENGTH, description="https or http, without credentials")
    secret_reference: str = Field(
        min_length=1, max_length=MAX_SECRET_REFERENCE_LENGTH, description="Names the signing secret; never the value"
    )
    event_types: tuple[str, ...] = Field(default=(), max_length=MAX_EVENT_TYPES, description="Empty means all")
    enabled: bool = True
    disabled_reason: str | None = Field(default=None, max_length=MAX_REASON_LENGTH, description="For people")
    version: int = Field(default=1, ge=1, description="Grows with every write; the fence of the next one")
    num_consecutive_failures: int = Field(default=0, ge=0, description="Failed attempts since the last success")
    failing_since: AwareDatetime | None = Field(default=None, description="The first of them, on the database's clock")

    def wants(self, event_type: str) -> bool:
        """Return whether messages of this type are for this endpoint now."""
        return self.enabled and (not self.event_types or event_type in self.event_types)
