"""How messages are written, cut and read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.infra.topics import MAX_ENDS, TOPIC_PAYLOADS, Topics, WorkSettled
from headrace.infra.topics.codec import MAX_MESSAGE_BYTES, decode, encode
from infra.tests.contracts.messages import ONE_OF_EACH, available, bundle_settled, settled


@given(st.text(st.characters(codec=None), max_size=9000), st.text(st.characters(codec=None), max_size=9000))
def test_any_two_texts_give_a_bounded_message_that_can_be_read(origin: str, key: str) -> None:
    text = encode(Topics.WORK_SETTLED, settled(origin=origin, idempotency_key=key))
    assert text is not None
    assert text.isascii()
    assert "\0" not in text
    assert len(text) <= MAX_MESSAGE_BYTES
    heard = decode(Topics.WORK_SETTLED, text)
    assert isinstance(heard, WorkSettled)
    assert (
        heard.truncated
        or heard.ends[0].origin.encode()
        == origin.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    )


def test_every_topic_has_one_payload() -> None:
    assert set(TOPIC_PAYLOADS) == set(Topics)


@pytest.mark.parametrize("topic", list(Topics))
def test_a_message_is_read_back_whole_when_it_fits(topic: Topics) -> None:
    text = encode(topic, ONE_OF_EACH[topic])
    assert text is not None
    assert decode(topic, text) == ONE_OF_EACH[topic]


def test_two_long_keys_stay_two_keys_when_they_are_cut() -> None:
    texts = [encode(Topics.WORK_SETTLED, settled(idempotency_key="k" * 9000 + end)) for end in "ab"]
    keys = {json.loads(text or "{}")["idempotency_key"] for text in texts}
    assert len(keys) == 2
    assert all(key.startswith("sha256:") for key in keys)


def test_every_text_is_cut_when_several_are_too_long() -> None:
    text = encode(Topics.WORK_SETTLED, settled(origin="\0" * 5000, idempotency_key="\ud800" * 9000))
    assert text is not None
    assert len(text) <= MAX_MESSAGE_BYTES
    assert json.loads(text)["truncated"] is True


@given(st.text(st.characters(codec=None), max_size=200), st.text(st.characters(codec=None), max_size=200))
def test_as_many_ends_as_a_message_may_hold_fit_whatever_their_texts(kind: str, origin: str) -> None:
    text = encode(Topics.WORK_SETTLED, settled(kind=kind, origin=origin, num_ends=MAX_ENDS))
    assert text is not None
    assert len(text) <= MAX_MESSAGE_BYTES
    heard = decode(Topics.WORK_SETTLED, text)
    assert isinstance(heard, WorkSettled)
    assert {end.item_id for end in heard.ends} == {settled().ends[0].item_id}
    assert len(heard.ends) == MAX_ENDS


def test_nothing_is_sent_when_what_is_no_text_is_too_long() -> None:
    huge = 10**4000
    endless = bundle_settled().model_copy(update={"num_done": huge, "num_failed": huge})
    assert encode(Topics.BUNDLE_SETTLED, endless) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "7", '{"lane": "x"}', "[" * 10_000, '{"lane":"x","num_items":0,"idempotency_key":""}'],
)
def test_nothing_is_read_when_the_text_is_no_message(text: str) -> None:
    assert decode(Topics.WORK_AVAILABLE, text) is None


def test_unknown_fields_are_ignored_when_a_newer_release_sends_them() -> None:
    assert (
        decode(Topics.WORK_AVAILABLE, '{"idempotency_key":"key","lane":"default","num_items":1,"new":[]}')
        == available()
    )
