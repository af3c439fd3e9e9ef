"""The API key: the credential that signs a caller in to one org."""

from typing import ClassVar, Final
from uuid import UUID

from pydantic import AwareDatetime, Field

from headrace.om.base import EMPTY_UUID, PROVENANCE_FIELDS, Identifiable, Named, Trackable
from headrace.om.context import Role

SECRET_HASH_BYTES: Final = 32


class ApiKey(Identifiable, Named, Trackable):
    """A credential of one org; the platform keeps the hash of its secret and never the secret."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {"user_id", "secret_hash", "revoked_at"}

    user_id: UUID = EMPTY_UUID
    """The member it acts for, and whose leaving ends it; `EMPTY_UUID` is the org itself."""
    role: Role
    """The most it may do; never more than its member may."""
    secret_hash: bytes = Field(
        min_length=SECRET_HASH_BYTES, max_length=SECRET_HASH_BYTES, repr=False, exclude=True, description="SHA-256"
    )
    expires_at: AwareDatetime | None = None
    """It signs nobody in from this instant on; None is never."""
    revoked_at: AwareDatetime | None = None
