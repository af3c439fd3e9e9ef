"""The main job: every sample to its endpoint through the real managers, and whether each ended as it must."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from headrace.infra.exceptions import SecretNotFound
from headrace.infra.secrets import WritableSecretsInterface
from headrace.om.context import OpContext
from headrace.om.root import Managers
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.delivery import DELIVERY_LANE
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem
from headrace.tools.dev.receiver import Arrival, Receiver
from headrace.tools.dev.routes import RETRY_AFTER, ROUTES, Route, spread
from headrace.tools.dev.samples import Sample
from headrace.workers.console.actions.webhooks import new_signing_secret

if TYPE_CHECKING:
    from pydantic import SecretStr

NO_EVENTS: Final = ("local.nothing",)
ENDPOINT_NAME: Final = "local receiver"
LOOK_EVERY: Final = timedelta(milliseconds=200)
MAX_ITEMS: Final = 1000
MAX_ENDPOINTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Delivery:
    """One sample on its way.

    Attributes:
        sample: What was published.
        route: Where it must go.
        webhook_id: What the receiver sees it as; None where it was addressed to nobody.
        item: The work item as it was last seen; None until it is in the queue.
        arrivals: What the receiver got of it.
    """

    sample: Sample
    route: Route
    webhook_id: str | None
    item: WorkItem | None = None
    arrivals: tuple[Arrival, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will happen."""
        return self.webhook_id is None or (self.item is not None and self.item.status in SETTLED_STATUSES)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a delivery or an endpoint.

    Attributes:
        event_type: Of which sample; a dash where it is no sample's.
        route: Where.
        what: In a few words.
    """

    event_type: str
    route: str
    what: str


@dataclass(slots=True)
class MainJob:
    """Endpoints, messages and deliveries of one run.

    Attributes:
        managers: The platform's.
        ctx: Whose org.
        secrets: Where the endpoints' signing secrets are kept.
        receiver: What the endpoints lead to.
        base_url: Where the receiver listens.
    """

    managers: Managers
    ctx: OpContext
    secrets: WritableSecretsInterface
    receiver: Receiver
    base_url: str
    _endpoints: dict[str, UUID] = field(default_factory=dict)

    async def make_secrets(self) -> None:
        """Let the receiver know the signing secret of each route, made at the first run."""
        for route in ROUTES:
            await self._secret(route.name)

    async def register(self, samples: Sequence[Sample]) -> None:
        """Add one endpoint for each route, or enable it again; disable those of earlier runs that lead elsewhere."""
        events = spread([sample.event_type for sample in samples])
        for route in ROUTES:
            # An empty filter would want everything.
            wanted = events[route.name] or route.event_types or NO_EVENTS
            self._endpoints[route.name] = (await self._endpoint(route.name, wanted)).id
        for endpoint in await self.managers.webhooks.get_endpoints(self.ctx, MAX_ENDPOINTS):
            is_ours = endpoint.name.startswith(ENDPOINT_NAME)
            if endpoint.enabled and is_ours and endpoint.id not in self._endpoints.values():
                await self.managers.webhooks.disable_endpoint(self.ctx, endpoint.id, "of an earlier local run")

    async def publish(self, samples: Sequence[Sample]) -> tuple[Delivery, ...]:
        """Publish the samples; return their deliveries, in the same order."""
        routes = {event_type: route for route in ROUTES for event_type in route.event_types}
        return tuple([await self._published(sample, routes.get(sample.event_type, ROUTES[0])) for sample in samples])

    async def watch(
        self, deliveries: Sequence[Delivery], show: Callable[[Sequence[Delivery]], None]
    ) -> tuple[Delivery, ...]:
        """Show how the deliveries stand, again and again, until all are settled; the caller bounds the time."""
        while True:
            seen = await self.look(deliveries)
            show(seen)
            if all(each.is_settled for each in seen):
                return seen
            await asyncio.sleep(LOOK_EVERY.total_seconds())

    async def look(self, deliveries: Sequence[Delivery]) -> tuple[Delivery, ...]:
        """Return the deliveries as they stand now."""
        items = await self.managers.work.get_items(self.ctx, WorkFilter(lane=DELIVERY_LANE), MAX_ITEMS)
        by_key = {item.idempotency_key: item for item in items}
        return tuple(self._seen(each, by_key) for each in deliveries)

    async def problems(self, deliveries: Sequence[Delivery]) -> tuple[Problem, ...]:
        """Return everything that is not as it must be; empty when the job is done right."""
        found = [
            Problem(each.sample.event_type, f"/{each.route.name}", what)
            for each in deliveries
            for what in delivery_problems(each)
        ]
        gone = await self.managers.webhooks.get_endpoint(self.ctx, self._endpoints["gone"])
        if gone.enabled:
            found.append(Problem("-", "/gone", "the endpoint is still enabled after 410"))
        # Of this run's messages alone: what an interrupted run left in the queue is delivered meanwhile as well.
        posts = [post for each in deliveries if each.webhook_id for post in self.receiver.arrivals(each.webhook_id)]
        if num_wrong := sum(not post.is_verified for post in posts):
            found.append(Problem("-", "-", f"{num_wrong} posts without a right signature"))
        return tuple(found)

    async def _endpoint(self, name: str, event_types: tuple[str, ...]) -> WebhookEndpoint:
        url = f"{self.base_url}/{name}"
        reference = await self._secret(name)
        # The same receiver with the same secret and events is the same endpoint: neither can be changed.
        endpoint_id = uuid5(self.ctx.org_id, f"{url} {reference} {' '.join(event_types)}")
        wanted = WebhookEndpoint(
            id=endpoint_id,
            name=f"{ENDPOINT_NAME} /{name}",
            url=url,
            secret_reference=reference,
            event_types=event_types,
        )
        await self.managers.webhooks.add_endpoint(self.ctx, wanted)
        present = await self.managers.webhooks.get_endpoint(self.ctx, endpoint_id)
        if present.enabled and present.num_consecutive_failures:
            # Some routes never succeed: what they collected in earlier runs must not disable them in this one.
            await self.managers.webhooks.disable_endpoint(self.ctx, endpoint_id, "a new local run begins")
        return await self.managers.webhooks.enable_endpoint(self.ctx, endpoint_id)

    async def _secret(self, name: str) -> str:
        """Return the reference of a route's signing secret, made at the first run, and let the receiver know it."""
        stored = secret_name(self.ctx.org_id, f"local-receiver-{name}")
        try:
            secret: SecretStr = await self.secrets.get(f"file:{stored}")
        except SecretNotFound:
            secret = new_signing_secret()
            await self.secrets.put(stored, secret)
        self.receiver.trust(name, secret.get_secret_value())
        return f"file:{stored}"

    async def _published(self, sample: Sample, route: Route) -> Delivery:
        published = await self.managers.webhooks.publish(self.ctx, sample.event_type, sample.text)
        wanted = self._endpoints[route.name]
        keys = [each.idempotency_key for each in published.deliveries if each.endpoint_id == wanted]
        return Delivery(sample, route, keys[0] if keys else None)

    def _seen(self, delivery: Delivery, items: Mapping[str | None, WorkItem]) -> Delivery:
        if delivery.webhook_id is None:
            return delivery
        item = items.get(delivery.webhook_id, delivery.item)
        arrivals = self.receiver.arrivals(delivery.webhook_id)
        return Delivery(delivery.sample, delivery.route, delivery.webhook_id, item, arrivals)


def delivery_problems(delivery: Delivery) -> tuple[str, ...]:
    """Returns what is wrong with one delivery, a few words each; empty when it ended as its route says."""
    item = delivery.item
    if delivery.webhook_id is None:
        return ("addressed to nobody: its endpoint does not want it",)
    if item is None:
        return ("not in the queue",)
    return (*_state_problems(delivery, item), *_arrival_problems(delivery, item))


def _state_problems(delivery: Delivery, item: WorkItem) -> list[str]:
    route, found = delivery.route, []
    if item.status is not route.status:
        found.append(f"is {item.status}, must be {route.status}")
    if item.attempts != route.num_attempts(item.max_attempts):
        found.append(f"took {item.attempts} attempts, must take {route.num_attempts(item.max_attempts)}")
    if route.error_code is not None and item.error_code != route.error_code:
        found.append(f"recorded as {item.error_code}, must be {route.error_code}")
    return found


def _arrival_problems(delivery: Delivery, item: WorkItem) -> list[str]:
    route, arrivals, found = delivery.route, delivery.arrivals, []
    expected = [route.answer(position) for position in range(item.attempts)]
    if [each.answer for each in arrivals] != expected:
        found.append(f"the receiver answered {_listed(each.answer for each in arrivals)}, not {_listed(expected)}")
    if any(each.route != route.name for each in arrivals):
        found.append(f"came to {', '.join(f'/{each.route}' for each in arrivals)}")
    if not all(each.is_verified for each in arrivals):
        found.append("a signature is wrong")
    if any(each.body != delivery.sample.body for each in arrivals):
        found.append("the body is not byte-equal")
    if route.name == "throttle" and not _waited(arrivals):
        found.append("came again before Retry-After was over")
    return found


def _waited(arrivals: Sequence[Arrival]) -> bool:
    """Returns whether each post came at least Retry-After later than the one before it."""
    gaps = [later.came_at - former.came_at for former, later in pairwise(arrivals)]
    return all(gap >= RETRY_AFTER.total_seconds() for gap in gaps)


def _listed(answers: Iterable[HTTPStatus | None]) -> str:
    return ", ".join("nothing" if answer is None else str(answer.value) for answer in answers) or "nobody"
