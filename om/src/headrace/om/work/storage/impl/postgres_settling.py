"""Settlements over PostgreSQL: plain ones by one statement, those that count or are followed by another."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from headrace.om.work import rules
from headrace.om.work.storage.impl import ending_statements as ending
from headrace.om.work.storage.impl.item_columns import insert_columns
from headrace.om.work.storage.impl.postgres_base import WorkPostgresPart
from headrace.om.work.types.settlement import Settled, Settlement
from headrace.om.work.types.work_item import WorkStatus

type Owned = tuple[UUID, Settlement]
"""A settlement with its tenant."""


class WorkSettlingPostgres(WorkPostgresPart):
    """What `write_item` and `settle_batch` share: under one tenant, or under the system scope for many."""

    async def _settle(self, scope: UUID, settlements: Sequence[Owned]) -> tuple[Settled, ...]:
        # In one order everywhere, so that two batches never wait for each other in a circle.
        ordered = sorted(settlements, key=lambda pair: (pair[0], pair[1].item_id))
        plain = [pair for pair in ordered if _is_plain(pair[1])]
        more = [pair for pair in ordered if not _is_plain(pair[1])] if len(plain) < len(ordered) else []
        # By token: an id may be another tenant's as well, and an item's stale token may stand beside its present one.
        recorded = await self._settle_plain(scope, plain) | await self._settle_counted(scope, more)
        if len(recorded) < len(settlements):
            recorded |= await self._settled_before(
                scope, [each for each in ordered if each[1].claim_token not in recorded]
            )
        return tuple(
            recorded.get(each.claim_token) or Settled(item_id=each.item_id, status=None) for _, each in settlements
        )

    async def _settle_plain(self, scope: UUID, settlements: Sequence[Owned]) -> dict[UUID, Settled]:
        if not settlements:
            return {}
        items = {each.claim_token: each.item_id for _, each in settlements}
        rows = await self._rows_of(ending.SETTLE_BATCH, scope, *settle_columns(settlements))
        return {row["token"]: _settled(items[row["token"]], row["status"]) for row in rows}

    async def _settle_counted(self, scope: UUID, settlements: Sequence[Owned]) -> dict[UUID, Settled]:
        if not settlements:
            return {}
        items = {each.claim_token: each.item_id for _, each in settlements}
        follow_ups = [(each.claim_token, item) for _, each in settlements for item in each.then]
        tokens, columns = (
            [token for token, _ in follow_ups],
            insert_columns([item for _, item in follow_ups], fair_share=self._fair_share),
        )
        rows = await self._rows_of(ending.SETTLE_COUNTED, scope, *settle_columns(settlements), tokens, *columns)
        return {
            row["token"]: Settled(
                item_id=items[row["token"]],
                status=WorkStatus(row["status"]),
                settled_bundle_id=row["settled_bundle_id"],
            )
            for row in rows
        }

    async def _settled_before(self, scope: UUID, settlements: Sequence[Owned]) -> dict[UUID, Settled]:
        """Return the reports of those that were written before, when the answer was lost on its way."""
        by_id = {each.settlement_id: each for _, each in settlements}
        columns = ([org_id for org_id, _ in settlements], [each.item_id for _, each in settlements], list(by_id))
        rows = await self._rows_of(ending.FIND_SETTLED, scope, *columns)
        found = ((by_id[row["settlement_id"]], WorkStatus(row["status"])) for row in rows)
        return {each.claim_token: rules.settled_before(each, status) for each, status in found}


def settle_columns(settlements: Sequence[Owned]) -> tuple[list[Any], ...]:
    """Return settlements as the arrays that the settling statements take, column by column."""
    each = [settlement for _, settlement in settlements]
    return (
        [org_id for org_id, _ in settlements],
        [settlement.item_id for settlement in each],
        [settlement.claim_token for settlement in each],
        [settlement.outcome.status.value for settlement in each],
        [settlement.delay for settlement in each],
        [settlement.until for settlement in each],
        [int(settlement.outcome.refunds_attempt) for settlement in each],
        [settlement.last_error for settlement in each],
        [settlement.error_code for settlement in each],
        [settlement.result_json for settlement in each],
        [settlement.settlement_id for settlement in each],
    )


def _is_plain(settlement: Settlement) -> bool:
    return settlement.bundle_id is None and not settlement.then


def _settled(item_id: UUID, status: str) -> Settled:
    return Settled.trusted({"item_id": item_id, "status": WorkStatus(status), "settled_bundle_id": None})
