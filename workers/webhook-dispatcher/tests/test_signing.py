"""The signature scheme against known vectors, and secrets in other forms."""

import base64
import traceback

import pytest
from pydantic import SecretStr

from headrace.workers.webhook_dispatcher.signing import SecretUnusable, read_key, sign, signed_headers

# Source: the vector that the reference libraries of Standard Webhooks share in their tests.
SECRET = SecretStr("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
MESSAGE_ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
TIMESTAMP = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def _secret_of(num_bytes: int) -> SecretStr:
    return SecretStr("whsec_" + base64.b64encode(b"k" * num_bytes).decode())


def test_signature_is_the_reference_one_when_the_vector_is_signed() -> None:
    assert sign(read_key(SECRET), MESSAGE_ID, TIMESTAMP, BODY) == SIGNATURE


def test_headers_are_the_schemes_three_when_an_attempt_is_signed() -> None:
    assert signed_headers(read_key(SECRET), MESSAGE_ID, TIMESTAMP, BODY) == {
        "webhook-id": MESSAGE_ID,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


@pytest.mark.parametrize(
    ("message_id", "timestamp", "body"),
    [("msg_other", TIMESTAMP, BODY), (MESSAGE_ID, TIMESTAMP + 1, BODY), (MESSAGE_ID, TIMESTAMP, BODY + b" ")],
)
def test_signature_differs_when_anything_signed_differs(message_id: str, timestamp: int, body: bytes) -> None:
    assert sign(read_key(SECRET), message_id, timestamp, body) != SIGNATURE


def test_bytes_are_signed_as_they_are_when_the_body_is_no_ascii() -> None:
    body = '{"name":"Zoë 👩\u200d🚀 \u202e"}'.encode()
    assert sign(read_key(SECRET), MESSAGE_ID, TIMESTAMP, body) != sign(
        read_key(SECRET), MESSAGE_ID, TIMESTAMP, body.decode().encode("utf-16")
    )


@pytest.mark.parametrize("message_id", ["", "a.b"])
def test_id_is_refused_when_it_could_be_read_in_two_ways(message_id: str) -> None:
    with pytest.raises(ValueError, match="full stop"):
        sign(read_key(SECRET), message_id, TIMESTAMP, BODY)


@pytest.mark.parametrize("num_bytes", [24, 64])
def test_key_is_read_when_its_size_is_within_the_bounds(num_bytes: int) -> None:
    assert len(read_key(_secret_of(num_bytes))) == num_bytes


@pytest.mark.parametrize("num_bytes", [0, 23, 65])
def test_key_is_refused_when_its_size_is_out_of_bounds(num_bytes: int) -> None:
    with pytest.raises(SecretUnusable, match="24 to 64 bytes"):
        read_key(_secret_of(num_bytes))


def test_key_is_read_when_a_line_break_follows_the_secret() -> None:
    assert read_key(SecretStr(SECRET.get_secret_value() + "\n")) == read_key(SECRET)


@pytest.mark.parametrize("text", ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!", "whsec_ß", "", "whsk_AAAA"])
def test_refusal_repeats_nothing_when_the_secret_has_another_form(text: str) -> None:
    with pytest.raises(SecretUnusable, match="whsec_") as refusal:
        read_key(SecretStr(text))
    told = "".join(traceback.format_exception(refusal.value, limit=0))
    assert text.removeprefix("whsec_") not in told or not text
