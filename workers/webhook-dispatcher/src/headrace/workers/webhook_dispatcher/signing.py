"""Signatures of deliveries by the Standard Webhooks scheme; pure.

Source: Standard Webhooks 1.0.0, "Signature scheme" and "Webhook headers".
"""

import base64
import binascii
import hashlib
import hmac
from typing import Final

from pydantic import SecretStr

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the form's prefix, no secret
MIN_KEY_BYTES: Final = 24
MAX_KEY_BYTES: Final = 64
"""The scheme's bounds of a symmetric key: 192 to 512 bits."""


class SecretUnusable(Exception):  # noqa: N818 - named like the project's other exceptions, by what is the case
    """A signing secret does not have the scheme's form; the sentence never repeats any of it."""


def read_key(secret: SecretStr) -> bytes:
    """Return the key that a secret of the form `whsec_<base64>` holds; white space around it is ignored.

    Raises:
        SecretUnusable: It has another form, or a key of another size than 24 to 64 bytes.
    """
    text = secret.get_secret_value().strip()
    if not text.startswith(SECRET_PREFIX):
        raise SecretUnusable(f"the signing secret must have the form {SECRET_PREFIX}<base64>")
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        # The cause would repeat a part of the secret in a traceback.
        raise SecretUnusable(f"the signing secret must be base64 after {SECRET_PREFIX}") from None
    if not MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES:
        raise SecretUnusable(f"the signing secret must hold {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes, got {len(key)}")
    return key


def sign(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of one attempt, as `v1,<base64>`.

    Args:
        key: The endpoint's key.
        message_id: What the receiver sees as `webhook-id`; without a full stop, which separates what is signed.
        timestamp: When the attempt is made, in whole seconds since the epoch.
        body: Exactly the bytes that are sent.

    Raises:
        ValueError: The id is empty or holds a full stop.
    """
    if not message_id or "." in message_id:
        raise ValueError("message_id: expected text without a full stop")
    content = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def signed_headers(key: bytes, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the scheme's three headers of one attempt; arguments and errors as for `sign`."""
    return {
        ID_HEADER: message_id,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: sign(key, message_id, timestamp, body),
    }
