"""Which items of the model a claim may take: what is said about claims, and the items' keys, as plain Python."""

from dataclasses import dataclass, field
from datetime import timedelta
from math import floor
from typing import Final
from uuid import UUID

from om.tests.stateful.model import Expected, QueueModel

ROUNDING: Final = 1e-6
"""Tokens: no more than sums of fractions may be off by."""

type Subject = tuple[str, str | None, UUID | None]
"""A limit's scope (kind, org or key), the kind and the org that it is about."""


@dataclass(slots=True)
class Bucket:
    """A rate and what was left in its bucket when."""

    per_second: float
    burst: int
    tokens: float
    filled_at: timedelta

    def tokens_at(self, now: timedelta) -> float:
        return min(float(self.burst), self.tokens + self.per_second * (now - self.filled_at).total_seconds())


@dataclass(slots=True)
class Controls:
    """What is said about claims."""

    limits: dict[Subject, int] = field(default_factory=dict)
    buckets: dict[str, Bucket] = field(default_factory=dict)
    pauses: set[str | UUID] = field(default_factory=set)
    """Lanes, kinds and orgs."""

    def limits_on(self, item: Expected) -> dict[Subject, int]:
        """Return the limits that hold for a claim of the item, each under whom it counts."""
        kind, org_id = item.asked.kind, item.org_id
        about: dict[Subject, int] = {}
        if ("kind", kind, None) in self.limits:
            about["kind", kind, None] = self.limits["kind", kind, None]
        for of_kind in (None, kind):
            own, each = self.limits.get(("org", of_kind, org_id)), self.limits.get(("org", of_kind, None))
            limit = each if own is None else own
            if limit is not None:
                about["org", of_kind, org_id] = limit
        if item.asked.concurrency_key is not None:
            about["key", item.asked.concurrency_key, org_id] = self.limits.get(("key", kind, None), 1)
        return about

    def is_paused(self, item: Expected) -> bool:
        return bool(self.pauses & {item.asked.lane, item.asked.kind, item.org_id})

    def num_ready(self, kind: str, now: timedelta) -> int | None:
        """Return how many items of the kind its rate lets begin now; None where there is no rate."""
        bucket = self.buckets.get(kind)
        return None if bucket is None else floor(bucket.tokens_at(now) + ROUNDING)

    def draw(self, kind: str, now: timedelta) -> None:
        """A claim of the kind draws a token."""
        if (bucket := self.buckets.get(kind)) is not None:
            bucket.tokens, bucket.filled_at = bucket.tokens_at(now) - 1, now


def is_counted(subject: Subject, item: Expected) -> bool:
    """Return whether a running item counts under a subject."""
    scope, name, org_id = subject
    if scope == "key":
        return item.org_id == org_id and item.asked.concurrency_key == name
    if scope == "org":
        return item.org_id == org_id and name in {None, item.asked.kind}
    return item.asked.kind == name


def num_running(model: QueueModel, subject: Subject) -> int:
    """Return how many live claims count under a subject."""
    return sum(1 for item in model.items.values() if model.is_live(item) and is_counted(subject, item))


def head_of(model: QueueModel, org_id: UUID, ordering_key: str) -> Expected | None:
    """Return who is next of an ordering key: who is claimed, else who has begun, else who has been due longest."""
    line = [i for i in model.of(org_id) if i.asked.ordering_key == ordering_key and not i.is_settled]
    standing = [i for i in line if i.has_begun or i.due_at <= model.now]
    return min(
        standing,
        key=lambda i: (i.status != "claimed", not i.has_begun, i.due_at, i.step, i.asked.id),
        default=None,
    )


def may_begin(model: QueueModel, controls: Controls, item: Expected) -> bool:
    """Return whether a claim may take the item now."""
    if item.status != "queued" or item.due_at > model.now or controls.is_paused(item):
        return False
    if item.asked.ordering_key is not None and head_of(model, item.org_id, item.asked.ordering_key) is not item:
        return False
    if controls.num_ready(item.asked.kind, model.now) == 0:
        return False
    return all(num_running(model, subject) < limit for subject, limit in controls.limits_on(item).items())
