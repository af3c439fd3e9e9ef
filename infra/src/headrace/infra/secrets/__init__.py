"""Secrets by reference: records name a secret, and its value is read where it is used and kept nowhere else."""

import re
from abc import ABC, abstractmethod
from typing import Final

from pydantic import SecretStr

from headrace.infra.exceptions import SecretNotFound

REFERENCE: Final = re.compile(r"(?P<scheme>[a-z]{1,20}):(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,99})")
"""A reference such as ``env:NAME`` or ``file:name``: no slash, so that no name leads out of its store."""


class SecretsInterface(ABC):
    """Reads secrets; a value is read anew each time, so that a changed secret is seen without a restart."""

    @abstractmethod
    async def get(self, reference: str) -> SecretStr:
        """Read the value behind a reference.

        Args:
            reference: Scheme and name, such as ``env:NAME``.

        Returns:
            The value, which does not show itself when printed; never empty.

        Raises:
            SecretNotFound: The reference is malformed, of a scheme that this store does not serve, or names nothing.
                The sentence names a well-formed reference and never a value.
        """
        ...

    @abstractmethod
    def describe(self) -> str:
        """Name the store in one line for the boot log."""
        ...


class WritableSecretsInterface(SecretsInterface):
    """A store that local tools may write to."""

    @abstractmethod
    async def put(self, name: str, value: SecretStr) -> str:
        """Store a value under a name, replacing what was there; readers see the old value or the new one.

        Args:
            name: 1 to 100 characters: letters, digits, dot, dash and underscore, the first a letter or a digit.
            value: Not empty, at most 64 KiB as UTF-8.

        Returns:
            The reference that ``get`` takes.

        Raises:
            ValueError: The name or the value is out of its range; nothing was stored.
            BackendUnavailable: The store cannot be written; the old value stands.
        """
        ...


def name_within(reference: str, scheme: str) -> str:
    """Return the name part of a reference of the given scheme.

    Raises:
        SecretNotFound: It is malformed, or of another scheme. A malformed one is not repeated, since it may be a value
            that was pasted into the wrong field.
    """
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SecretNotFound(
            "a secret reference must look like scheme:name, with a name of letters, digits, '.', '_', '-'"
        )
    if match["scheme"] != scheme:
        raise SecretNotFound(f"secret {reference} cannot be found: this store serves only {scheme}: references")
    return match["name"]
