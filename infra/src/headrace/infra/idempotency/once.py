"""A topic callback that runs once for each piece of news."""

from headrace.infra.idempotency import SYSTEM_ORG_ID, HandledKeysInterface, checked_consumer
from headrace.infra.topics import TenantPayload, TopicCallback, TopicPayload


def once(consumer: str, handled: HandledKeysInterface, callback: TopicCallback) -> TopicCallback:
    """Wrap a callback so that a message with a key it has handled is left out.

    A callback that raises or is cancelled has not handled the message: the key is forgotten and the error goes on.

    Args:
        consumer: Name of the consumer; see ``HandledKeysInterface.first_time``.
        handled: Where keys are recorded.
        callback: What runs for a new key.

    Raises:
        ValueError: The consumer's name is out of its range.
    """
    checked_consumer(consumer)

    async def call_once(payload: TopicPayload) -> None:
        org_id = payload.org_id if isinstance(payload, TenantPayload) else SYSTEM_ORG_ID
        if not await handled.first_time(org_id, consumer, payload.idempotency_key):
            return
        try:
            await callback(payload)
        except BaseException:
            await handled.forget(org_id, consumer, payload.idempotency_key)
            raise

    return call_once
