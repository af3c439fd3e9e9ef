"""The org: the tenant that everything else belongs to."""

from typing import ClassVar

from headrace.om.base import PROVENANCE_FIELDS, Identifiable, Named, SoftDeletable, Trackable


class Org(Identifiable, Named, Trackable, SoftDeletable):
    """A tenant; its id is the `org_id` of all that it owns. A deleted one signs nobody in and runs no work."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {"deleted_at"}
