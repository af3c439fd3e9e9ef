"""How a message looks on its way: one line of ASCII JSON, bounded, and readable by every release."""

import hashlib
import json
from typing import Any, Final

from headrace.infra.topics import TOPIC_PAYLOADS, TopicPayload, Topics

DEFAULT_NAMESPACE: Final = "headrace"

MAX_MESSAGE_BYTES: Final = 7900
"""Upper bound of an encoded message.

Source: PostgreSQL, NOTIFY: a payload must be shorter than 8000 bytes. Every backend keeps to it, so that a subscriber
sees the same whatever carries the message.
"""

MIN_TEXT_BYTES: Final = 64
"""Texts are not cut below this size, which keeps identifiers and dates whole."""


def channel_of(namespace: str, topic: Topics) -> str:
    """Return the name under which a backend carries a topic; one that notifies by itself must use it too."""
    return f"{namespace}_{topic}"


def encode(topic: Topics, payload: TopicPayload) -> str | None:
    """Write a payload as ASCII JSON, cut to fit.

    ASCII, since a database may have any encoding; an escaped NUL is no NUL to PostgreSQL.

    Returns:
        The text, at most ``MAX_MESSAGE_BYTES`` long; None when it cannot be made to fit.

    Raises:
        TypeError: The payload is not of the topic's type.
    """
    if type(payload) is not TOPIC_PAYLOADS[topic]:
        raise TypeError(f"topic {topic} takes {TOPIC_PAYLOADS[topic].__name__}, got {type(payload).__name__}")
    fields = {name: _clean(value) for name, value in payload.model_dump().items()}
    text = _dump(fields)
    return text if len(text) <= MAX_MESSAGE_BYTES else _dump_trimmed(fields)


def decode(topic: Topics, text: str) -> TopicPayload | None:
    """Read a payload.

    Returns:
        The payload; None when the text is no message of this topic, which may come from another program.
    """
    try:
        return TOPIC_PAYLOADS[topic].model_validate(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _clean(value: object) -> object:
    """Make a value that JSON can hold and every reader accepts: lone surrogates have no UTF-8 form."""
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, dict):
        return {name: _clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _dump(fields: dict[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":"))


def _dump_trimmed(fields: dict[str, Any]) -> str | None:
    trimmed = fields | {"truncated": True}
    places = _texts_in(trimmed)
    for _ in places:  # each round settles one text for good
        excess = len(_dump(trimmed)) - MAX_MESSAGE_BYTES
        if excess <= 0:
            break
        holder, name = max(places, key=lambda place: len(json.dumps(place[0][place[1]])))
        holder[name] = _shorter(name, holder[name], excess)
    text = _dump(trimmed)
    return text if len(text) <= MAX_MESSAGE_BYTES else None


def _texts_in(fields: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return where every text of a message stands: the object that holds it, and its name there."""
    places = [(fields, name) for name, value in fields.items() if isinstance(value, str)]
    lists = [value for value in fields.values() if isinstance(value, list)]
    return places + [place for each in lists for inner in each if isinstance(inner, dict) for place in _texts_in(inner)]


def _shorter(name: str, text: str, excess: int) -> str:
    if name == "idempotency_key":  # a cut key could meet another one; a digest stays one key for one piece of news
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return _cut(text, max(MIN_TEXT_BYTES, len(json.dumps(text)) - excess))


def _cut(text: str, max_bytes: int) -> str:
    """Return the longest start of a text whose JSON form, quotes included, is no longer than the bound."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if len(json.dumps(text[:middle])) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return text[:low]
