"""The handler of DELIVER_WEBHOOK: one message to one endpoint, signed, posted, and judged by the answer."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, override

from pydantic import ValidationError

from headrace.infra.secrets import SecretsInterface
from headrace.om.base import utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import PlatformException
from headrace.om.webhooks.manager import WebhookDeliveriesInterface
from headrace.om.webhooks.rules import is_own_reference
from headrace.om.webhooks.types.delivery import DueDelivery, FailurePolicy
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.rules import RetryPolicy, retry_delay
from headrace.om.work.types.handler import Claim, Defer, Refuse, RetryLater, Steering, WorkHandlerInterface
from headrace.om.work.types.payloads.deliver_webhook import DeliverWebhookPayload
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.claims import current_claim
from headrace.workers.webhook_dispatcher.addresses import AddressRefused
from headrace.workers.webhook_dispatcher.pinning import NameUnanswered
from headrace.workers.webhook_dispatcher.posting import Answer, PostFailed, UrlUnusable, WebhookPoster
from headrace.workers.webhook_dispatcher.signing import SecretUnusable, read_key, signed_headers
from headrace.workers.webhook_dispatcher.verdicts import Ending, Verdict, excerpt_of, judge

logger = logging.getLogger(__name__)

_WHEN_CLAIM_IS_UNSURE: Final = timedelta(seconds=5)
_WEBHOOK_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")


class DeliveryFailed(RetryLater):
    """The attempt failed, and another may succeed."""

    code: ClassVar[str] = "delivery_failed"


@dataclass(frozen=True, slots=True)
class DeliveryRules:
    """What the settings say about deliveries."""

    longest_wait: timedelta
    """A receiver that asks for more time than this is tried again after this."""
    failing: FailurePolicy
    """When an endpoint that keeps failing is disabled."""
    retry: RetryPolicy
    """How long a failed attempt waits when the receiver does not say."""


class DeliverWebhookHandlerImpl(WorkHandlerInterface):
    """Delivers at least once, always under the item's idempotency key, so that receivers can tell repeats.

    Args:
        webhooks: The messages and endpoints.
        secrets: Where signing secrets are read, anew for each attempt.
        poster: Sends.
        rules: What the settings say.
        claim: The claim that the calling task works under.
        now: The present instant, for `webhook-timestamp` and for dates in Retry-After.
    """

    def __init__(
        self,
        webhooks: WebhookDeliveriesInterface,
        secrets: SecretsInterface,
        poster: WebhookPoster,
        rules: DeliveryRules,
        *,
        claim: Callable[[], Claim] = current_claim,
        now: Callable[[], datetime] = utcnow,
    ) -> None:
        self._webhooks = webhooks
        self._secrets = secrets
        self._poster = poster
        self._rules = rules
        self._claim = claim
        self._now = now

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> dict[str, Any]:
        """Deliver, and return the receiver's status, the milliseconds it took and how its answer begins.

        Raises:
            Refuse: The payload, the endpoint, its secret or the answer rules out that another attempt helps.
            DeliveryFailed: The attempt failed; another may succeed.
            Defer: Whether the claim still holds cannot be told, so nothing was sent.
            SecretNotFound, BackendUnavailable: The signing secret cannot be read; a failed attempt.
        """
        payload = _payload_of(item)
        due = await self._webhooks.get_delivery(ctx, payload.message_id, payload.endpoint_id)
        if not due.endpoint.enabled:
            raise Refuse(f"the endpoint is disabled: {due.endpoint.disabled_reason}", code="endpoint_disabled")
        key = await self._key_of(ctx, due.endpoint)
        if not await self._claim().still_held():
            raise Defer(_WHEN_CLAIM_IS_UNSURE, "nothing was sent: the claim may not hold any more")
        try:
            answer = await self._posted(ctx, due, key, _webhook_id_of(item))
            return await self._settled(ctx, due.endpoint, answer)
        except DeliveryFailed as error:
            if not error.after:  # "at once" too: such answers in a row would use up every attempt in a moment
                error.after = retry_delay(self._rules.retry, item.attempts, str(item.id))
            raise

    async def _key_of(self, ctx: OpContext, endpoint: WebhookEndpoint) -> bytes:
        # Looked at again, whoever wrote the record: this process can read every tenant's secrets.
        if not is_own_reference(ctx.org_id, endpoint.secret_reference):
            raise Refuse("the endpoint names a secret that is not its org's own", code="secret_foreign")
        try:
            return read_key(await self._secrets.get(endpoint.secret_reference))
        except SecretUnusable as error:
            reason = f"secret {endpoint.secret_reference} of the endpoint cannot sign: {error}"
            raise Refuse(reason, code="secret_unusable") from None

    async def _posted(self, ctx: OpContext, due: DueDelivery, key: bytes, webhook_id: str) -> Answer:
        body = due.message.body.encode()
        headers = signed_headers(key, webhook_id, int(self._now().timestamp()), body)
        try:
            return await self._poster.post(ctx.org_id, due.endpoint.url, headers, body)
        except NameUnanswered as error:
            # It says nothing of the receiver, so that its endpoint must not be disabled over it.
            raise DeliveryFailed(str(error)) from error
        except PostFailed as error:
            await self._count_failure(ctx, due.endpoint)
            raise DeliveryFailed(str(error)) from error
        except (AddressRefused, UrlUnusable) as error:
            await self._count_failure(ctx, due.endpoint)
            raise Refuse(f"the endpoint's URL is not posted to: {error}", code="url_refused") from error

    async def _settled(self, ctx: OpContext, endpoint: WebhookEndpoint, answer: Answer) -> dict[str, Any]:
        verdict = judge(answer, now=self._now(), longest_wait=self._rules.longest_wait)
        if verdict.ending is Ending.DELIVERED:
            await self._forget_failures(ctx, endpoint)
            return {
                "status": answer.status,
                "elapsed_ms": round(answer.elapsed.total_seconds() * 1000),
                "response": excerpt_of(answer),
            }
        if verdict.ending is Ending.GONE:
            await self._webhooks.endpoint_gone(ctx, endpoint)
        else:
            await self._count_failure(ctx, endpoint)
        raise _end_of(verdict, answer)

    async def _forget_failures(self, ctx: OpContext, endpoint: WebhookEndpoint) -> None:
        try:
            await self._webhooks.delivery_succeeded(ctx, endpoint)
        except PlatformException:
            # The message is delivered: failing now would deliver it again.
            logger.exception("the failures of webhook endpoint %s are not forgotten", endpoint.id)

    async def _count_failure(self, ctx: OpContext, endpoint: WebhookEndpoint) -> None:
        try:
            await self._webhooks.delivery_failed(ctx, endpoint, self._rules.failing)
        except PlatformException:
            # How the attempt ended must be recorded as it was.
            logger.exception("a failure of webhook endpoint %s is not counted", endpoint.id)


def _payload_of(item: WorkItem) -> DeliverWebhookPayload:
    try:
        return DeliverWebhookPayload.model_validate(item.payload.thawed())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise Refuse(f"payload.{field}: {first['msg']}", code="payload_invalid") from error


def _webhook_id_of(item: WorkItem) -> str:
    """Return what stays the same over every attempt; the item's id where its key cannot stand in a header."""
    key = item.idempotency_key or ""
    return key if _WEBHOOK_ID.fullmatch(key) else str(item.id)


def _end_of(verdict: Verdict, answer: Answer) -> Steering:
    reason = f"the receiver answered {answer.status}"
    if excerpt := excerpt_of(answer).strip():
        reason = f"{reason}: {excerpt}"
    if verdict.ending is Ending.GONE:
        return Refuse(reason, code="endpoint_gone")
    if verdict.ending is Ending.REFUSED:
        return Refuse(reason, code=f"receiver_{answer.status}")
    return DeliveryFailed(reason, after=verdict.after)
