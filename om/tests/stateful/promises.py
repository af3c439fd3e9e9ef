"""What the queue promises of its rows at any time, each a sentence; looked at after every step.

The last one, that the rows stand where the model says, would notice nearly everything: the others come first, so that
a fault is called by its name.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from headrace.om.work.types.bundle import BundleStatus, WorkBundle
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus
from om.tests.stateful.model import Expected, ExpectedBundle
from om.tests.stateful.world import World

OWN_ROWS: Final = "No tenant sees another's items"
KEPT: Final = "Every item that was enqueued is there until it is deleted or purged"
ONE_KEY: Final = "A key holds one item, and what is unique holds one that has not settled"
SETTLED: Final = "A settled item changes only by retry, delete and purge"
ATTEMPTS: Final = "Attempts never pass max_attempts, nor fall below none"
ONE_HOLDER: Final = "An item is claimed exactly while one token and one lease hold it"
LEASE: Final = "Nobody takes a claim back whose lease has not passed"
COUNTED: Final = "A bundle's counters are its items' ends"
FOLLOWED: Final = "A bundle is followed by one item exactly, once it has settled"
GONE: Final = "As many items change as are said to have, and those that were asked for"
MODEL: Final = "Each row stands where the events so far put it"


def own_rows(world: World) -> Iterable[object]:
    """No tenant sees another's items."""
    return [row for row in world.rows.items if row not in world.model.items]


def kept(world: World) -> Iterable[object]:
    """Every item that was enqueued is there until it is deleted or purged."""
    return [item for row, item in world.model.items.items() if row not in world.rows.items]


def one_key(world: World) -> Iterable[object]:
    """A key holds one item, and what is unique holds one that has not settled."""
    rows = world.rows.items.items()
    keys = Counter((org_id, i.idempotency_key) for (org_id, _), i in rows if i.idempotency_key is not None)
    unsettled = ((org_id, i.unique_hash) for (org_id, _), i in rows if i.status not in SETTLED_STATUSES)
    uniques = Counter((org_id, value) for org_id, value in unsettled if value is not None)
    return [each for counts in (keys, uniques) for each, count in counts.items() if count > 1]


def settled(world: World) -> Iterable[object]:
    """A settled item changes only by retry, delete and purge."""
    before = ((row, item) for row, item in world.before.items.items() if item.status in SETTLED_STATUSES)
    mine = ((row, item) for row, item in before if row not in world.begun_again)
    return [
        (item, world.rows.items.get(row)) for row, item in mine if _shown(world.rows.items.get(row)) != _shown(item)
    ]


def attempts(world: World) -> Iterable[object]:
    """Attempts never pass max_attempts, nor fall below none."""
    return [item for item in world.rows.items.values() if not 0 <= item.attempts <= item.max_attempts]


def one_holder(world: World) -> Iterable[object]:
    """An item is claimed exactly while one token and one lease hold it."""
    items = world.rows.items.values()
    odd = [i for i in items if not (_is_claimed(i) == (i.claim_token is not None) == (i.lease_expires_at is not None))]
    tokens = Counter(item.claim_token for item in items if item.claim_token is not None)
    return [*odd, *(token for token, count in tokens.items() if count > 1)]


def lease(world: World) -> Iterable[object]:
    """Nobody takes a claim back whose lease has not passed."""
    live = [item for item in world.model.items.values() if world.model.is_live(item)]
    return [item for item in live if world.rows.items[item.row].claim_token != item.token]


def counted(world: World) -> Iterable[object]:
    """A bundle's counters are its items' ends."""
    wrong = []
    for row, bundle in world.rows.bundles.items():
        expected = world.model.bundles.get(row)
        counts = (bundle.num_done, bundle.num_failed, bundle.num_cancelled)
        ends = Counter(item.status for item in world.rows.items.values() if item.bundle_id == bundle.id)
        at_least = (ends[WorkStatus.DONE], ends[WorkStatus.FAILED], ends[WorkStatus.CANCELLED])
        is_full = sum(counts) == bundle.num_items
        is_counted = all(count >= least for count, least in zip(counts, at_least, strict=True))
        if expected is None or counts != expected.counts or not is_counted or is_full != _is_settled(bundle):
            wrong.append((bundle, expected))
    return wrong


def followed(world: World) -> Iterable[object]:
    """A bundle is followed by one item exactly, once it has settled."""
    wrong = []
    for (org_id, bundle_id), bundle in world.model.bundles.items():
        key = f"bundle:{bundle_id}"
        theirs = [i for (org, _), i in world.rows.items.items() if org == org_id and i.idempotency_key == key]
        wanted = [i for i in world.model.of(org_id) if i.asked.key == key]
        if len(theirs) != len(wanted) or _is_missed(world, bundle, num_there=len(theirs)):
            wrong.append((bundle, theirs))
    return wrong


def as_the_model_says(world: World) -> Iterable[object]:
    """Each row stands where the events so far put it."""
    rows = [
        (item, world.rows.items[row])
        for row, item in world.model.items.items()
        if _of_model(item) != _of_row(world.rows.items[row])
    ]
    return [*rows, *(row for row in world.rows.bundles.keys() ^ world.model.bundles.keys())]


type Promise = Callable[[World], Iterable[object]]
"""Returns what breaks it."""

PROMISES: Final[dict[str, Promise]] = {
    KEPT: kept,
    FOLLOWED: followed,
    ONE_KEY: one_key,
    OWN_ROWS: own_rows,
    SETTLED: settled,
    ATTEMPTS: attempts,
    LEASE: lease,
    ONE_HOLDER: one_holder,
    COUNTED: counted,
    MODEL: as_the_model_says,
}


def _shown(item: WorkItem | None) -> object:
    """Return the item without its instants, which the machine moves where it cannot move the clock."""
    if item is None:
        return None
    instants = {name for name in WorkItem.model_fields if name.endswith("_at")}
    return item.model_dump(exclude=instants)


def _is_claimed(item: WorkItem) -> bool:
    return item.status is WorkStatus.CLAIMED


def _is_settled(bundle: WorkBundle) -> bool:
    return bundle.status is BundleStatus.SETTLED and bundle.settled_at is not None


def _is_missed(world: World, bundle: ExpectedBundle, *, num_there: int) -> bool:
    """Return whether a follow-up is not there that nobody has deleted or purged."""
    if bundle.follow_up is None or not bundle.is_settled or num_there:
        return False
    return (bundle.org_id, bundle.follow_up.id) not in world.gone


def _of_model(item: Expected) -> tuple[Any, ...]:
    ends = (item.token, item.is_cancel_asked, item.has_begun, item.settled_at is not None, item.bundle_id)
    return item.status, item.attempts, item.crashes, *ends


def _of_row(item: WorkItem) -> tuple[Any, ...]:
    flags = (item.cancel_requested_at is not None, item.started_at is not None, item.settled_at is not None)
    return item.status.value, item.attempts, item.crashes, item.claim_token, *flags, item.bundle_id
