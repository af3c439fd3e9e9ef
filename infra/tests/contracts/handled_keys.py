"""What every record of handled keys does; subclasses give ``handled`` (empty) and ``briefly`` (keeps keys 60 ms)."""

import asyncio
from uuid import UUID, uuid4

import pytest

from headrace.infra.idempotency import HandledKeysInterface
from infra.tests.contracts.eventually import eventually


@pytest.fixture
def org_id() -> UUID:
    return uuid4()


class HandledKeysContract:
    async def test_a_key_is_new_only_once(self, handled: HandledKeysInterface, org_id: UUID) -> None:
        answers = [await handled.first_time(org_id, "mailer", "key") for _ in range(3)]
        assert answers == [True, False, False]

    async def test_one_caller_is_first_when_many_ask_at_once(self, handled: HandledKeysInterface, org_id: UUID) -> None:
        answers = await asyncio.gather(*(handled.first_time(org_id, "mailer", "key") for _ in range(20)))
        assert sum(answers) == 1

    async def test_a_key_is_new_when_tenant_consumer_or_key_differ(
        self, handled: HandledKeysInterface, org_id: UUID
    ) -> None:
        assert await handled.first_time(org_id, "mailer", "key")
        assert await handled.first_time(org_id, "indexer", "key")
        assert await handled.first_time(org_id, "mailer", "other")
        assert await handled.first_time(uuid4(), "mailer", "key")

    async def test_a_key_is_new_again_when_it_was_forgotten(self, handled: HandledKeysInterface, org_id: UUID) -> None:
        await handled.first_time(org_id, "mailer", "key")
        await handled.forget(org_id, "mailer", "key")
        assert await handled.first_time(org_id, "mailer", "key")

    async def test_a_key_stays_handled_when_another_one_is_forgotten(
        self, handled: HandledKeysInterface, org_id: UUID
    ) -> None:
        await handled.first_time(org_id, "mailer", "key")
        await handled.forget(uuid4(), "mailer", "key")
        await handled.forget(org_id, "indexer", "key")
        await handled.forget(org_id, "mailer", "other")
        assert not await handled.first_time(org_id, "mailer", "key")

    async def test_a_key_is_new_again_when_its_record_has_expired(
        self, briefly: HandledKeysInterface, org_id: UUID
    ) -> None:
        await briefly.first_time(org_id, "mailer", "key")

        async def is_new() -> bool:
            return await briefly.first_time(org_id, "mailer", "key")

        await eventually(is_new)

    @pytest.mark.parametrize("key", ["", "nul \0", "\ud800", "a:b", "x" * 5000])
    async def test_any_text_is_a_key(self, handled: HandledKeysInterface, org_id: UUID, key: str) -> None:
        assert await handled.first_time(org_id, "mailer", key)
        assert not await handled.first_time(org_id, "mailer", key)
        assert await handled.first_time(org_id, "mailer", key + "y")

    @pytest.mark.parametrize("consumer", ["", "Upper", "with:colon", "x" * 64, "a b"])
    async def test_nothing_is_recorded_when_the_consumer_is_out_of_range(
        self, handled: HandledKeysInterface, org_id: UUID, consumer: str
    ) -> None:
        with pytest.raises(ValueError, match="consumer must be"):
            await handled.first_time(org_id, consumer, "key")
        with pytest.raises(ValueError, match="consumer must be"):
            await handled.forget(org_id, consumer, "key")

    def test_the_description_names_the_time(self, handled: HandledKeysInterface) -> None:
        assert "1:00:00" in handled.describe()
