"""The queue's arithmetic, by property."""

import math
from datetime import UTC, datetime, timedelta
from typing import override
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.om.exceptions import NotFound, Unavailable, ValidationFailed
from headrace.om.work import rules
from headrace.om.work.types.handler import Defer, Park, Refuse, RetryLater
from headrace.om.work.types.settlement import Outcome, Settlement
from headrace.om.work.types.work_item import MAX_ERROR_BYTES, WorkItem, WorkStatus
from om.tests.contracts.work_items import a_work_item

POLICIES = st.builds(
    rules.RetryPolicy,
    base=st.timedeltas(min_value=timedelta(0), max_value=rules.LONGEST_DELAY),
    factor=st.floats(1.0, 100.0),
    cap=st.timedeltas(min_value=timedelta(0), max_value=rules.LONGEST_DELAY),
    jitter=st.floats(0.0, 1.0),
)
TEXTS = st.text(st.characters(codec=None), max_size=50)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def a_claimed_item(**fields: object) -> WorkItem:
    claimed = {
        "status": WorkStatus.CLAIMED,
        "claim_token": uuid4(),
        "attempts": 1,
        "lease_expires_at": NOW + timedelta(minutes=1),
    }
    return a_work_item(**claimed | fields)


@given(policy=POLICIES, attempts=st.integers(0, 10**9))
def test_a_delay_is_never_negative_and_never_overflows(policy: rules.RetryPolicy, attempts: int) -> None:
    delay = rules.retry_delay(policy, attempts, "seed")
    assert timedelta(0) <= delay <= min(rules.LONGEST_DELAY, policy.cap * (1 + policy.jitter) + timedelta(seconds=1))


@given(policy=POLICIES, attempts=st.integers(1, 50), seed=st.text(max_size=20))
def test_a_delay_is_the_same_for_the_same_seed(policy: rules.RetryPolicy, attempts: int, seed: str) -> None:
    assert rules.retry_delay(policy, attempts, seed) == rules.retry_delay(policy, attempts, seed)


def test_delays_grow_by_the_factor_up_to_the_cap() -> None:
    policy = rules.RetryPolicy(base=timedelta(seconds=2), factor=3, cap=timedelta(seconds=50), jitter=0)
    delays = [rules.retry_delay(policy, attempts, "seed").total_seconds() for attempts in range(1, 6)]
    assert delays == [2, 6, 18, 50, 50]


def test_jitter_spreads_delays_of_different_items() -> None:
    policy = rules.RetryPolicy(jitter=0.5)
    assert len({rules.retry_delay(policy, 1, str(seed)) for seed in range(20)}) > 10


def test_a_custom_delay_is_kept_within_bounds() -> None:
    policy = rules.RetryPolicy(custom=lambda attempts: timedelta(days=-attempts))
    assert rules.retry_delay(policy, 3, "seed") == timedelta(0)


def test_a_custom_delay_that_raises_gives_the_default_delay_to_a_failure_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_attempts: int) -> timedelta:
        raise RuntimeError("a policy with a fault")

    item = a_claimed_item()
    monkeypatch.setattr(rules, "RETRY_POLICIES", {item.kind: rules.RetryPolicy(custom=broken)})
    expected = rules.retry_delay(rules.DEFAULT_RETRY_POLICY, item.attempts, str(item.id))
    assert rules.failed(item, "boom").delay == expected
    assert "a policy with a fault" in caplog.text


@pytest.mark.parametrize(("attempts", "expected"), [(2, False), (3, True), (4, True)])
def test_attempts_are_exhausted_at_the_maximum(attempts: int, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert rules.is_exhausted(attempts, 3) is expected


def test_a_lease_is_stale_only_after_it_passed() -> None:
    item = a_claimed_item(lease_expires_at=NOW)
    assert not rules.is_stale(item, NOW, timedelta(0))
    assert rules.is_stale(item, NOW + timedelta(microseconds=1), timedelta(0))
    assert not rules.is_stale(item, NOW + timedelta(seconds=9), timedelta(seconds=10))
    assert not rules.is_stale(a_work_item(), NOW, timedelta(0))


@given(position=st.integers(0, 10**9))
def test_the_stagger_is_bounded_and_grows(position: int) -> None:
    assert timedelta(0) <= rules.requeue_stagger(position) <= rules.STAGGER_CAP
    assert rules.requeue_stagger(position) <= rules.requeue_stagger(position + 1)


class Broken(Exception):  # noqa: N818 - what a handler may raise
    code = 42

    @override
    def __str__(self) -> str:
        raise RuntimeError("not even text")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RetryLater(), Outcome.RETRY),
        (Defer(timedelta(minutes=1)), Outcome.DEFERRED),
        (Park("waits", NOW), Outcome.PARKED),
        (Refuse("never"), Outcome.FAILED),
        (ValidationFailed("field", "better"), Outcome.FAILED),
        (NotFound("gone"), Outcome.FAILED),
        (Unavailable("later"), Outcome.RETRY),
        (ValueError("boom"), Outcome.RETRY),
        (Broken(), Outcome.RETRY),
        (SystemExit(3), Outcome.RETRY),
        (Defer("soon"), Outcome.RETRY),  # type: ignore[arg-type] # a handler that steers with a wrong value
        (Park("waits", NOW.replace(tzinfo=None)), Outcome.RETRY),
        (Park("waits", "tomorrow"), Outcome.RETRY),  # type: ignore[arg-type] # likewise
    ],
)
def test_what_a_handler_raises_decides(error: BaseException, outcome: Outcome) -> None:
    assert rules.ended_by(a_claimed_item(), error).outcome is outcome


def test_a_failure_says_when_the_handler_asked_to_be_tried_again() -> None:
    assert rules.ended_by(a_claimed_item(), RetryLater(after=timedelta(minutes=7))).delay == timedelta(minutes=7)


@given(text=TEXTS | TEXTS.map(lambda text: text * 1000))
def test_error_texts_can_be_stored_and_are_bounded(text: str) -> None:
    stored = rules.error_text_of(ValueError(text))
    assert "\x00" not in stored
    assert len(stored.encode()) <= MAX_ERROR_BYTES


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, 10**5000], ids=["inf", "-inf", "nan", "huge"])
def test_results_that_json_cannot_say_are_cleaned(number: float) -> None:
    assert rules.done(a_claimed_item(), {"number": number}).result_json is not None


def test_an_item_without_a_claim_cannot_be_settled() -> None:
    with pytest.raises(ValueError, match="no claim token"):
        rules.done(a_work_item(), None)


@pytest.mark.parametrize("then", [(), (a_work_item(),)], ids=["alone", "followed"])
def test_a_done_settlement_is_what_its_model_would_make_of_it(then: tuple[WorkItem, ...]) -> None:
    settlement = rules.done(a_claimed_item(bundle_id=uuid4(), ordering_key="a"), {"rows": 3}, then)
    fields = {name: getattr(settlement, name) for name in Settlement.model_fields}
    assert settlement == Settlement.model_validate(fields)
    assert settlement.with_changes(result_json=None).result is None
