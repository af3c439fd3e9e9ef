"""The webhook dispatcher put together."""

import ssl
from dataclasses import dataclass
from functools import partial
from typing import Self

import httpx

from headrace.infra.boot import BootedProcess
from headrace.om.root import Infra, Managers
from headrace.om.storage.root import StorageInterface
from headrace.om.webhooks.types.delivery import FailurePolicy
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.rules import RETRY_POLICIES
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.container import WorkerParts, build_parts, parts_for_tests
from headrace.workers.kit.testing import settings_for_tests
from headrace.workers.webhook_dispatcher.handler import DeliverWebhookHandlerImpl, DeliveryRules
from headrace.workers.webhook_dispatcher.pinning import PinnedTransport
from headrace.workers.webhook_dispatcher.posting import PostLimits, WebhookPoster, wire_transport
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings


@dataclass(frozen=True, slots=True)
class WorkerContainer:
    """The worker's parts; making them opens nothing.

    Attributes:
        parts: What every worker has.
        poster: Sends; to be closed when the worker ends.
    """

    parts: WorkerParts
    poster: WebhookPoster

    @classmethod
    def build(cls, settings: WebhookDispatcherSettings, booted: BootedProcess | None = None) -> Self:
        """Return the worker over the backends that its settings name.

        Certificates are trusted as the process is set up by now, so that this comes after its boot.

        Raises:
            ConfigurationInvalid: An address in the settings cannot be read.
        """
        poster = _poster(settings, _pinned_transport(settings))
        return cls(build_parts(settings, partial(_register, settings, poster), booted), poster)

    @classmethod
    def for_tests(
        cls,
        storage: StorageInterface,
        infra: Infra,
        *,
        settings: WebhookDispatcherSettings | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> Self:
        """Return the worker over a given storage and given toolkits.

        Args:
            storage: Over memory, as a rule.
            infra: The toolkits.
            settings: Those for tests when None.
            transport: What takes the posts; the real one, bounded by the settings, when None.
        """
        chosen = settings or settings_for_tests(WebhookDispatcherSettings)
        poster = _poster(chosen, transport or _pinned_transport(chosen))
        return cls(parts_for_tests(chosen, storage, infra, partial(_register, chosen, poster)), poster)


def _register(
    settings: WebhookDispatcherSettings,
    poster: WebhookPoster,
    registry: HandlerRegistry,
    managers: Managers,
    infra: Infra,
) -> None:
    handler = DeliverWebhookHandlerImpl(managers.webhooks, infra.secrets, poster, _rules(settings))
    registry.register(WorkKind.DELIVER_WEBHOOK, handler)


def _rules(settings: WebhookDispatcherSettings) -> DeliveryRules:
    return DeliveryRules(
        longest_wait=settings.retry_after_limit,
        failing=FailurePolicy(
            max_consecutive_failures=settings.endpoint_failure_limit,
            max_failing_for=settings.endpoint_failure_period,
        ),
        retry=RETRY_POLICIES[WorkKind.DELIVER_WEBHOOK].with_changes(base=settings.retry_base),
    )


def _poster(settings: WebhookDispatcherSettings, transport: httpx.AsyncBaseTransport) -> WebhookPoster:
    limits = PostLimits(
        connect_timeout=settings.post_connect_timeout,
        read_timeout=settings.post_read_timeout,
        total_timeout=settings.post_total_timeout,
        max_response_bytes=settings.post_max_response_bytes,
    )
    return WebhookPoster(limits, transport)


def _pinned_transport(settings: WebhookDispatcherSettings) -> PinnedTransport:
    return PinnedTransport(
        wire_transport(ssl.create_default_context()),
        allow_private=settings.allow_private_addresses,
        allowed=settings.allowed_networks,
    )
