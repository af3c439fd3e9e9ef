"""A callback that runs once for each piece of news."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from headrace.infra.idempotency.impl.memory import HandledKeysMemoryImpl
from headrace.infra.idempotency.once import once
from infra.tests.contracts.messages import Ear, FailingEar, StuckEar, available, bundle_settled, settled


@pytest.fixture
def handled() -> HandledKeysMemoryImpl:
    return HandledKeysMemoryImpl(keep_for=timedelta(hours=1))


async def test_a_message_is_handled_once_when_it_is_repeated(handled: HandledKeysMemoryImpl) -> None:
    ear = Ear()
    callback = once("mailer", handled, ear)
    for key in ("one", "one", "two"):
        await callback(available(idempotency_key=key))
    assert [each.idempotency_key for each in ear.heard] == ["one", "two"]


async def test_each_tenant_is_handled_when_two_share_a_key(handled: HandledKeysMemoryImpl) -> None:
    ear = Ear()
    callback = once("mailer", handled, ear)
    for org_id in (uuid4(), uuid4()):
        await callback(bundle_settled(org_id=org_id))
    assert len(ear.heard) == 2


async def test_each_consumer_handles_when_two_hear_a_message(handled: HandledKeysMemoryImpl) -> None:
    ear = Ear()
    for consumer in ("mailer", "indexer"):
        await once(consumer, handled, ear)(settled())
    assert len(ear.heard) == 2


async def test_a_repetition_is_handled_when_the_first_time_failed(handled: HandledKeysMemoryImpl) -> None:
    failing, ear = FailingEar(RuntimeError("broken")), Ear()
    with pytest.raises(RuntimeError, match="broken"):
        await once("mailer", handled, failing)(settled())
    await once("mailer", handled, ear)(settled())
    assert len(ear.heard) == 1


async def test_a_repetition_is_handled_when_the_first_time_was_cancelled(handled: HandledKeysMemoryImpl) -> None:
    stuck, ear = StuckEar(), Ear()
    task = asyncio.ensure_future(once("mailer", handled, stuck)(settled()))
    while not stuck.num_begun:  # noqa: ASYNC110 - a turn of the loop is all that is waited for
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await once("mailer", handled, ear)(settled())
    assert len(ear.heard) == 1


def test_a_consumer_is_refused_when_its_name_is_out_of_range(handled: HandledKeysMemoryImpl) -> None:
    with pytest.raises(ValueError, match="consumer must be"):
        once("Mailer!", handled, Ear())
