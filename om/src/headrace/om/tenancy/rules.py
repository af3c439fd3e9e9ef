"""The rules of tenancy that need no storage: what roles may do, and how a token of an API key is made and read."""

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from types import MappingProxyType
from typing import Final
from uuid import UUID

from headrace.om.base import EMPTY_UUID
from headrace.om.context import Permission, Role
from headrace.om.exceptions import ValidationFailed
from headrace.om.tenancy.types.sign_in import SignIn

_READS: Final = frozenset(
    {
        Permission.TENANCY_READ,
        Permission.AUDIT_READ,
        Permission.EVENTS_READ,
        Permission.WORK_READ,
        Permission.WEBHOOKS_READ,
    }
)
_DAILY_WORK: Final = frozenset({Permission.WORK_ENQUEUE, Permission.WORK_OPERATE, Permission.WEBHOOKS_PUBLISH})
_ADMINISTRATION: Final = frozenset({Permission.TENANCY_ADMIN, Permission.WEBHOOKS_ADMIN})

ROLE_PERMISSIONS: Final[Mapping[Role, frozenset[Permission]]] = MappingProxyType(
    {
        Role.VIEWER: _READS,
        Role.MEMBER: _READS | _DAILY_WORK,
        Role.OWNER: _READS | _DAILY_WORK | _ADMINISTRATION,
        Role.SERVICE: frozenset(Permission),
    }
)
"""What each role may do; each one may all that the one before it may, and only SERVICE settles, sweeps and delivers."""

_RANKS: Final[Mapping[Role, int]] = MappingProxyType({role: rank for rank, role in enumerate(ROLE_PERMISSIONS)})

DEFAULT_PRINCIPAL_TTL: Final = timedelta(seconds=5)
"""For how long the claim path trusts what it learned about an org and a user, unless a setting says."""

SECRET_BYTES: Final = 32
_TOKEN: Final = re.compile(r"hr_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")


def refuse_service_role(role: Role) -> None:
    """Return when a credential or a membership may carry the role.

    Raises:
        ValidationFailed: It is SERVICE, which is the platform's own processes' alone.
    """
    if role is Role.SERVICE:
        raise ValidationFailed("role", "owner, member or viewer: service is for the platform's own processes alone")


def lesser_role(one: Role, other: Role) -> Role:
    """Return the role of the two that may less."""
    return min(one, other, key=_RANKS.__getitem__)


def sign_in_role(sign_in: SignIn) -> Role | None:
    """Return the role that a key signs in with: the lesser of its own and its member's; None where that one left."""
    if sign_in.key.user_id == EMPTY_UUID:
        return sign_in.key.role
    return None if sign_in.member_role is None else lesser_role(sign_in.key.role, sign_in.member_role)


def new_secret() -> str:
    """Return a secret nobody can guess: 256 random bits as 43 URL-safe characters."""
    return secrets.token_urlsafe(SECRET_BYTES)


def secret_hash(secret: str) -> bytes:
    """Return what is stored of a secret.

    One round of SHA-256 without salt is enough here and only here: the secret is 256 random bits, so there
    is no dictionary to try.
    """
    return sha256(secret.encode()).digest()


def is_secret_of(stored_hash: bytes, secret: str) -> bool:
    """Return whether the secret is the one that was stored; takes as long when it is not."""
    return compare_digest(stored_hash, secret_hash(secret))


def compose_token(key_id: UUID, secret: str) -> str:
    """Return the text that a caller presents: `hr_<key id>_<secret>`."""
    return f"hr_{key_id.hex}_{secret}"


def parse_token(token: str) -> tuple[UUID, str] | None:
    """Return the key's id and the secret that a token names; None where it is no token of ours."""
    match = _TOKEN.fullmatch(token)
    return None if match is None else (UUID(hex=match[1]), match[2])
