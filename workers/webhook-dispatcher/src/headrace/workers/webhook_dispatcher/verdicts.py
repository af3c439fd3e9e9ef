"""What an answer means for its item and its endpoint; pure."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from headrace.om.encoding import storable_text
from headrace.workers.webhook_dispatcher.posting import Answer
from headrace.workers.webhook_dispatcher.retry_after import read_retry_after

MAX_EXCERPT_BYTES: Final = 1024

_BIDI_CONTROLS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MAY_ASK_FOR_TIME: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


class Ending(StrEnum):
    """How an attempt ends."""

    DELIVERED = "delivered"
    GONE = "gone"
    """The receiver wants no more messages."""
    REFUSED = "refused"
    """The receiver does not take this message, and will not later."""
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means."""

    ending: Ending
    after: timedelta | None = None
    """For retries: how long the receiver wants to be left alone; None where it does not say."""


def judge(answer: Answer, *, now: datetime, longest_wait: timedelta) -> Verdict:
    """Return what an answer means by its status.

    2xx delivered; 410 gone; other 3xx and 4xx refused, redirects too, which are not followed; 429 and 503
    are tried again when Retry-After says so; everything else is tried again by the kind's policy.

    Source: Standard Webhooks 1.0.0, "Delivery success and failure", with refusals from the product's design.
    """
    status = answer.status
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Verdict(Ending.DELIVERED)
    if status == HTTPStatus.GONE:
        return Verdict(Ending.GONE)
    if status in _MAY_ASK_FOR_TIME:
        after = read_retry_after(answer.retry_after, now=now, limit=longest_wait)
        return Verdict(Ending.RETRY, after)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return Verdict(Ending.REFUSED)
    return Verdict(Ending.RETRY)


def excerpt_of(answer: Answer) -> str:
    """Return the beginning of the answer's body as text that is safe to store and to show in a terminal.

    At most `MAX_EXCERPT_BYTES`, marked where it was cut; controls and what turns the writing direction become
    U+FFFD.
    """
    # A character takes at least one byte, so that what lies beyond this is cut in any case.
    text = answer.body[: 2 * MAX_EXCERPT_BYTES].decode("utf-8", "replace")
    return storable_text("".join(map(_shown, text)), limit_bytes=MAX_EXCERPT_BYTES)


def _shown(character: str) -> str:
    is_control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return "\ufffd" if is_control or character in _BIDI_CONTROLS else character
