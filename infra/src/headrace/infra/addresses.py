"""Addresses of backends: which are accepted, and how one is shown to people, without what opens it."""

from typing import Final
from urllib.parse import urlsplit

from headrace.infra.exceptions import ConfigurationInvalid

REDIS_SCHEMES: Final = ("redis", "rediss", "unix")
POSTGRES_SCHEMES: Final = ("postgresql", "postgres")


def shown_address(url: str) -> str:
    """Return scheme, hosts and path of a backend URL.

    User, password and query are left out, since any of them may carry a credential.

    Args:
        url: A URL such as ``redis://user:secret@cache:6379/0``; several hosts are fine.

    Returns:
        For that example ``redis://cache:6379/0``; ``(unreadable address)`` where nothing can be shown safely.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(unreadable address)"
    if not parts.scheme:
        return "(unreadable address)"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def check_scheme(owner: str, url: str, schemes: tuple[str, ...]) -> None:
    """Refuse an address that a backend's driver cannot read.

    Raises:
        ConfigurationInvalid: The scheme is none of the given ones; the sentence does not show the address.
    """
    if url.partition("://")[0] not in schemes:
        raise ConfigurationInvalid(f"{owner} needs an address that begins with one of {', '.join(schemes)} and ://")
