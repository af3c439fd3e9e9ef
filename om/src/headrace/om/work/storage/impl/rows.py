"""From rows of the queue's tables to items, bundles and schedules: the one place that knows both."""

import json
from collections.abc import Mapping
from typing import Any, Final

from headrace.om.base import FrozenMapping
from headrace.om.work.types.bundle import BundleStatus, FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.schedule import MissedTicks, Overlap, WorkSchedule
from headrace.om.work.types.work_item import WorkItem, WorkStatus

TAKEN_AS_THEY_ARE: Final = tuple(
    name for name in WorkItem.model_fields if name not in {"kind", "status", "payload", "result", "unique_for"}
)
BUNDLE_TAKEN: Final = tuple(name for name in WorkBundle.model_fields if name not in {"status", "on_settled"})
SCHEDULE_TAKEN: Final = tuple(
    name for name in WorkSchedule.model_fields if name not in {"kind", "payload", "missed", "overlap"}
)


def item_of(row: Mapping[str, Any]) -> WorkItem:
    """Return the item that a row holds; it was validated when it was written, so it is not validated again."""
    values = {name: row[name] for name in TAKEN_AS_THEY_ARE}
    values["kind"] = WorkKind.read(row["kind"])
    values["status"] = WorkStatus(row["status"])
    values["payload"] = FrozenMapping(json.loads(row["payload"]))
    values["result"] = None if row["result"] is None else json.loads(row["result"])
    values["unique_for"] = None if row["unique_for"] is None else tuple(row["unique_for"])
    return WorkItem.trusted(values)


def bundle_of(row: Mapping[str, Any]) -> WorkBundle:
    """Return the bundle that a row holds, not validated again either."""
    wanted = None if row["on_settled"] is None else json.loads(row["on_settled"])
    values = {name: row[name] for name in BUNDLE_TAKEN}
    values["status"] = BundleStatus(row["status"])
    values["on_settled"] = None if wanted is None else _follow_up(wanted)
    return WorkBundle.trusted(values)


def schedule_of(row: Mapping[str, Any]) -> WorkSchedule:
    """Return the schedule that a row holds, not validated again either."""
    values = {name: row[name] for name in SCHEDULE_TAKEN}
    values["kind"] = WorkKind.read(row["kind"])
    values["payload"] = FrozenMapping(json.loads(row["payload"]))
    values["missed"] = MissedTicks(row["missed"])
    values["overlap"] = Overlap(row["overlap"])
    return WorkSchedule.trusted(values)


def _follow_up(wanted: Mapping[str, Any]) -> FollowUp:
    own = {"kind": WorkKind.read(wanted["kind"]), "payload": FrozenMapping(wanted["payload"])}
    # What an earlier release wrote may lack a field of this one: the model's defaults fill it in.
    return FollowUp.model_construct(**{**wanted, **own})
