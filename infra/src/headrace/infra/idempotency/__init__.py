"""Handling a repeated message once: producers set a key, consumers record the keys that they have handled."""

import re
from abc import ABC, abstractmethod
from typing import Final
from uuid import UUID

SYSTEM_ORG_ID: Final = UUID(int=0)
"""The scope of keys that belong to no tenant."""

CONSUMER: Final = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


class HandledKeysInterface(ABC):
    """The record of what each consumer has handled.

    A record is kept for a time that the implementation is made with; a repetition after it counts as new.
    """

    @abstractmethod
    async def first_time(self, org_id: UUID, consumer: str, key: str) -> bool:
        """Record that a consumer takes a key on, and tell whether it is the first to. Atomic between processes.

        Args:
            org_id: The tenant of the message, or ``SYSTEM_ORG_ID``; a tenant's keys never meet another's.
            consumer: Name of the consumer, stable between releases: at most 63 characters of a-z, 0-9, ``_.-``.
            key: The producer's idempotency key, any text.

        Returns:
            True for exactly one caller while the record lasts. An implementation over a cache also answers True when
            the cache is away: then a message may be handled twice rather than not at all.

        Raises:
            ValueError: The consumer's name is out of its range; nothing was recorded.
        """
        ...

    @abstractmethod
    async def forget(self, org_id: UUID, consumer: str, key: str) -> None:
        """Take the record back, after handling failed; does nothing when there is none.

        Args:
            org_id: As given to ``first_time``.
            consumer: As given to ``first_time``.
            key: As given to ``first_time``.
        """
        ...

    @abstractmethod
    def describe(self) -> str:
        """Name the record's backend and its time in one line for the boot log."""
        ...


def checked_consumer(consumer: str) -> str:
    """Return the name when every implementation can hold it.

    Raises:
        ValueError: It is empty, too long, or has other characters.
    """
    if not CONSUMER.fullmatch(consumer):
        raise ValueError(f"consumer must be at most 63 characters of a-z, 0-9, '_', '.', '-', got {consumer!r}")
    return consumer
