"""What every cache does; subclasses give the fixture ``cache``, started and empty."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from headrace.infra.cache import MAX_COUNT, CacheInterface, CacheScope
from infra.tests.contracts.eventually import eventually

HOUR = timedelta(hours=1)
SOON = timedelta(milliseconds=60)
VALUES = CacheScope.IDEMPOTENCY
LISTED = CacheScope.WORKER_LIVENESS


@pytest.fixture
def org_id() -> UUID:
    return uuid4()


class CacheContract:
    @pytest.mark.parametrize("scope", list(CacheScope))
    async def test_a_value_is_read_back_when_it_was_put(
        self, cache: CacheInterface, org_id: UUID, scope: CacheScope
    ) -> None:
        assert await cache.put(scope, org_id, "key", "value", ttl=HOUR)
        assert await cache.get(scope, org_id, "key") == "value"

    async def test_reading_misses_when_nothing_was_put(self, cache: CacheInterface, org_id: UUID) -> None:
        assert await cache.get(VALUES, org_id, "key") is None

    async def test_a_value_is_hidden_when_another_tenant_asks(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        stranger = uuid4()
        assert await cache.get(LISTED, stranger, "key") is None
        assert not await cache.invalidate(LISTED, stranger, "key")
        assert await cache.keys(LISTED, stranger, 10) == ()
        assert await cache.get(LISTED, org_id, "key") == "value"

    async def test_a_counter_starts_anew_when_another_tenant_counts(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.increment(VALUES, org_id, "key", ttl=HOUR)
        assert await cache.increment(VALUES, uuid4(), "key", ttl=HOUR) == 1

    async def test_a_value_is_hidden_when_another_scope_is_asked(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        assert await cache.get(VALUES, org_id, "key") is None

    async def test_a_value_is_replaced_when_put_again(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(VALUES, org_id, "key", "old", ttl=HOUR)
        await cache.put(VALUES, org_id, "key", "new", ttl=HOUR)
        assert await cache.get(VALUES, org_id, "key") == "new"

    async def test_the_lifetime_is_replaced_when_put_again(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        await cache.put(LISTED, org_id, "key", "value", ttl=SOON)
        await eventually(lambda: misses(cache, LISTED, org_id))
        assert await cache.keys(LISTED, org_id, 10) == ()

    async def test_a_value_is_gone_when_its_lifetime_has_passed(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(VALUES, org_id, "key", "value", ttl=SOON)
        await eventually(lambda: misses(cache, VALUES, org_id))

    @pytest.mark.parametrize("ttl", [timedelta(0), timedelta(seconds=-1), timedelta(microseconds=999), timedelta.max])
    async def test_nothing_is_stored_when_the_lifetime_is_out_of_range(
        self, cache: CacheInterface, org_id: UUID, ttl: timedelta
    ) -> None:
        with pytest.raises(ValueError, match="ttl must be between"):
            await cache.put(VALUES, org_id, "key", "value", ttl=ttl)
        with pytest.raises(ValueError, match="ttl must be between"):
            await cache.increment(VALUES, org_id, "key", ttl=ttl)
        assert await cache.get(VALUES, org_id, "key") is None

    async def test_a_value_is_gone_when_invalidated(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        assert await cache.invalidate(LISTED, org_id, "key")
        assert await cache.get(LISTED, org_id, "key") is None
        assert await cache.keys(LISTED, org_id, 10) == ()

    async def test_invalidating_tells_when_there_was_nothing(self, cache: CacheInterface, org_id: UUID) -> None:
        assert not await cache.invalidate(VALUES, org_id, "key")

    async def test_a_counter_adds_up_when_incremented(self, cache: CacheInterface, org_id: UUID) -> None:
        totals = [await cache.increment(VALUES, org_id, "key", by=by, ttl=HOUR) for by in (1, 5, -7)]
        assert totals == [1, 6, -1]
        assert await cache.get(VALUES, org_id, "key") == "-1"

    async def test_every_addition_counts_when_many_come_at_once(self, cache: CacheInterface, org_id: UUID) -> None:
        additions = (cache.increment(VALUES, org_id, "key", ttl=HOUR) for _ in range(100))
        totals = await asyncio.gather(*additions)
        assert sorted(total or 0 for total in totals) == list(range(1, 101))

    async def test_a_counter_keeps_its_first_lifetime_when_incremented_again(
        self, cache: CacheInterface, org_id: UUID
    ) -> None:
        await cache.increment(VALUES, org_id, "key", ttl=SOON)
        await cache.increment(VALUES, org_id, "key", ttl=HOUR)
        await eventually(lambda: misses(cache, VALUES, org_id))
        assert await cache.increment(VALUES, org_id, "key", ttl=HOUR) == 1

    @pytest.mark.parametrize("value", ["text", "", "1_0", " 1", "+1", "01", str(MAX_COUNT)])
    async def test_a_value_stays_when_it_cannot_be_added_to(
        self, cache: CacheInterface, org_id: UUID, value: str
    ) -> None:
        await cache.put(VALUES, org_id, "key", value, ttl=HOUR)
        assert await cache.increment(VALUES, org_id, "key", ttl=HOUR) is None
        assert await cache.get(VALUES, org_id, "key") == value

    async def test_an_addition_is_refused_when_it_leaves_64_bits(self, cache: CacheInterface, org_id: UUID) -> None:
        with pytest.raises(ValueError, match="by must be between"):
            await cache.increment(VALUES, org_id, "key", by=MAX_COUNT + 1, ttl=HOUR)

    async def test_a_counter_is_refused_when_the_scope_is_listed(self, cache: CacheInterface, org_id: UUID) -> None:
        with pytest.raises(ValueError, match="takes no counters"):
            await cache.increment(LISTED, org_id, "key", ttl=HOUR)

    async def test_keys_are_listed_in_order_when_live(self, cache: CacheInterface, org_id: UUID) -> None:
        for key in ("b", "a", "c"):
            await cache.put(LISTED, org_id, key, "value", ttl=HOUR)
        assert await cache.keys(LISTED, org_id, 10) == ("a", "b", "c")

    async def test_keys_are_bounded_when_there_are_more(self, cache: CacheInterface, org_id: UUID) -> None:
        for key in ("b", "a", "c"):
            await cache.put(LISTED, org_id, key, "value", ttl=HOUR)
        assert len(await cache.keys(LISTED, org_id, 2)) == 2

    async def test_a_key_is_not_listed_when_it_has_expired(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "dead", "value", ttl=SOON)
        await cache.put(LISTED, org_id, "live", "value", ttl=HOUR)
        await eventually(lambda: lists(cache, org_id, "live"))

    async def test_a_key_stays_listed_when_a_shorter_lived_one_is_put_later(
        self, cache: CacheInterface, org_id: UUID
    ) -> None:
        await cache.put(LISTED, org_id, "long", "value", ttl=HOUR)
        await cache.put(LISTED, org_id, "short", "value", ttl=SOON)
        await eventually(lambda: lists(cache, org_id, "long"))

    async def test_listing_is_refused_when_the_scope_has_no_index(self, cache: CacheInterface, org_id: UUID) -> None:
        with pytest.raises(ValueError, match="cannot be listed"):
            await cache.keys(VALUES, org_id, 10)

    async def test_listing_is_refused_when_it_has_no_bound(self, cache: CacheInterface, org_id: UUID) -> None:
        with pytest.raises(ValueError, match="limit must be 1 or more"):
            await cache.keys(LISTED, org_id, 0)

    @pytest.mark.parametrize("text", ["", "a:b{c}", "nul \0 nul", "\ud800 lone", "é 😀", "x" * 10_000])
    async def test_any_text_comes_back_when_used_as_key_and_value(
        self, cache: CacheInterface, org_id: UUID, text: str
    ) -> None:
        assert await cache.put(LISTED, org_id, text, text, ttl=HOUR)
        assert await cache.get(LISTED, org_id, text) == text
        assert await cache.keys(LISTED, org_id, 10) == (text,)

    async def test_everything_misses_when_closed(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        await cache.close()
        assert not await cache.put(LISTED, org_id, "key", "value", ttl=HOUR)
        assert await cache.get(LISTED, org_id, "key") is None
        assert not await cache.invalidate(LISTED, org_id, "key")
        assert await cache.increment(VALUES, org_id, "key", ttl=HOUR) is None
        assert await cache.keys(LISTED, org_id, 10) == ()

    async def test_starting_and_closing_do_nothing_when_done_already(self, cache: CacheInterface, org_id: UUID) -> None:
        await cache.start()
        assert await cache.put(VALUES, org_id, "key", "value", ttl=HOUR)
        await cache.close()
        await cache.close()


async def misses(cache: CacheInterface, scope: CacheScope, org_id: UUID) -> bool:
    return await cache.get(scope, org_id, "key") is None


async def lists(cache: CacheInterface, org_id: UUID, *keys: str) -> bool:
    return await cache.keys(LISTED, org_id, 10) == keys
