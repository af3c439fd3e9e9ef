"""The event: one change of one record."""

from uuid import UUID

from pydantic import Field

from headrace.om.base import Created, Identifiable


class Event(Identifiable, Created):
    """Says that a record changed, in ids only. Its id is the outbox row's, and gives its place in the feed."""

    entity: str = Field(min_length=1, max_length=100, description="The record's type, such as `org`")
    entity_id: UUID
    change: str = Field(min_length=1, max_length=100, description="What happened to it, such as `created`")
    request_id: UUID
    """The request that changed it."""
