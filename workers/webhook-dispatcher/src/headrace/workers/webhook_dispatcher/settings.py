"""The webhook dispatcher's settings."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, ClassVar, Self

from pydantic import Field, IPvAnyNetwork, model_validator

from headrace.infra.settings import Duration, MetricsPort, ServiceName, format_duration, within
from headrace.om.webhooks.types.delivery import DELIVERY_LANE
from headrace.om.work.rules import RETRY_POLICIES
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.settings import Lane, WorkerSettings, config_of


class WebhookDispatcherSettings(WorkerSettings):
    """A worker's settings, and what bounds a post; under `HEADRACE_WEBHOOK_DISPATCHER_`."""

    model_config = config_of("webhook-dispatcher")

    env_scope: ClassVar[str] = "WEBHOOK_DISPATCHER"

    service: ServiceName = "webhook-dispatcher"
    lane: Lane = DELIVERY_LANE
    metrics_port: MetricsPort = 9102
    post_connect_timeout: Annotated[
        Duration,
        within("1ms", "5m"),
        Field(description="For looking a host up, and again for each connection with its TLS handshake."),
    ] = timedelta(seconds=5)
    post_read_timeout: Annotated[
        Duration, within("1ms", "1h"), Field(description="How long a receiver may be silent within its answer.")
    ] = timedelta(seconds=15)
    post_total_timeout: Annotated[
        Duration,
        within("1ms", "1d"),
        Field(description="How long one post may take in all; below the handler timeout."),
    ] = timedelta(seconds=30)
    post_max_response_bytes: Annotated[
        int, Field(ge=1, le=10_485_760, description="Bytes of an answer's body that are read; the rest is not.")
    ] = 65_536
    retry_after_limit: Annotated[
        Duration,
        within("0s", "30d"),
        Field(description="A receiver that asks for more time is tried again after this."),
    ] = timedelta(hours=1)
    retry_base: Annotated[
        Duration,
        within("1ms", "30d"),
        Field(description="Wait after the first failed attempt; each further one waits three times as long."),
    ] = RETRY_POLICIES[WorkKind.DELIVER_WEBHOOK].base
    endpoint_failure_limit: Annotated[
        int, Field(ge=1, le=1_000_000, description="An endpoint is disabled after this many failures in a row ...")
    ] = 20
    endpoint_failure_period: Annotated[
        Duration, within("0s", "365d"), Field(description="... when the first of them is also this long ago.")
    ] = timedelta(days=1)
    allow_private_addresses: Annotated[
        bool, Field(description="Whether every address is posted to, loopback too; local-only.")
    ] = False
    allowed_networks: Annotated[
        tuple[IPvAnyNetwork, ...],
        Field(description='Networks posted to though they are not public, as JSON: ["10.1.0.0/16"].'),
    ] = ()

    @model_validator(mode="after")
    def _posts_fit(self) -> Self:
        if problems := tuple(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        if max(self.post_connect_timeout, self.post_read_timeout) > self.post_total_timeout:
            total = format_duration(self.post_total_timeout)
            yield f"post_connect_timeout and post_read_timeout: expected at most post_total_timeout={total}"
        limit = self.handler_timeouts.get(WorkKind.DELIVER_WEBHOOK, self.handler_timeout)
        if self.post_total_timeout >= limit:
            yield f"post_total_timeout: expected below the handler timeout of {format_duration(limit)}"
        if self.allow_private_addresses and self.is_cloud:
            yield f"allow_private_addresses is local-only: in {self.environment} name them in allowed_networks"
