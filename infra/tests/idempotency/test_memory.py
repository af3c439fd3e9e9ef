"""Handled keys in memory: the contract, and the end of a record to the moment."""

from datetime import timedelta
from uuid import uuid4

import pytest

from headrace.infra.idempotency.impl.memory import HandledKeysMemoryImpl
from infra.tests.contracts.handled_keys import HandledKeysContract, org_id

__all__ = ["org_id"]


class TestHandledKeysMemory(HandledKeysContract):
    @pytest.fixture
    def handled(self) -> HandledKeysMemoryImpl:
        return HandledKeysMemoryImpl(keep_for=timedelta(hours=1))

    @pytest.fixture
    def briefly(self) -> HandledKeysMemoryImpl:
        return HandledKeysMemoryImpl(keep_for=timedelta(milliseconds=60))


async def test_a_record_ends_exactly_when_its_time_is_over() -> None:
    now, org = 100.0, uuid4()
    handled = HandledKeysMemoryImpl(keep_for=timedelta(seconds=10), clock=lambda: now)
    assert await handled.first_time(org, "mailer", "key")
    now = 109.9
    assert not await handled.first_time(org, "mailer", "key")
    now = 110.0
    assert await handled.first_time(org, "mailer", "key")


async def test_a_key_lives_its_full_time_when_it_was_forgotten_and_taken_again() -> None:
    now, org = 100.0, uuid4()
    handled = HandledKeysMemoryImpl(keep_for=timedelta(seconds=10), clock=lambda: now)
    for key in ("first", "second"):
        await handled.first_time(org, "mailer", key)
    await handled.forget(org, "mailer", "first")
    now = 105.0
    assert await handled.first_time(org, "mailer", "first")
    now = 112.0
    assert await handled.first_time(org, "mailer", "second")
    assert not await handled.first_time(org, "mailer", "first")


def test_the_time_is_refused_when_it_is_not_above_zero() -> None:
    with pytest.raises(ValueError, match="ttl must be between"):
        HandledKeysMemoryImpl(keep_for=timedelta(0))
