"""What is said about claims, over PostgreSQL: between controls and rows of `queue.work_controls`."""

from collections.abc import Sequence
from typing import Any, override
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.work.storage import WorkControlStorageInterface
from headrace.om.work.storage.impl import control_statements as sql
from headrace.om.work.storage.impl.held_back_statements import READ_HELD_BACK
from headrace.om.work.storage.impl.postgres_base import WorkPostgresPart
from headrace.om.work.types.control import LimitScope, WorkControl, WorkControls, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkHeldBack


class WorkControlsPostgres(WorkPostgresPart, WorkControlStorageInterface):
    """Each method one statement across tenants."""

    @override
    async def put_control(self, control: WorkControl, origin: str) -> None:
        await self._rows_across(sql.PUT_CONTROL, *_subject(control), *_numbers(control), origin)

    @override
    async def delete_control(self, control: WorkControl) -> bool:
        return bool(await self._rows_across(sql.DELETE_CONTROL, *_subject(control)))

    @override
    async def read_controls(self) -> WorkControls:
        rows = await self._rows_across(sql.READ_CONTROLS)
        return WorkControls(
            limits=tuple(_limit(row) for row in _of(rows, "limit")),
            rates=tuple(_rate(row) for row in _of(rows, "rate")),
            pauses=tuple(_pause(row) for row in _of(rows, "pause")),
        )

    @override
    async def read_held_back(self) -> WorkHeldBack:
        (row,) = await self._rows_across(READ_HELD_BACK)
        return WorkHeldBack(**dict(row))


def _subject(control: WorkControl) -> tuple[str, str, str, str, UUID]:
    """Return the key of the row that says it: what, scope, lane, kind, org; parts that it does not name are empty."""
    if isinstance(control, WorkLimit):
        return "limit", control.scope.value, "", _name(control.kind), control.org_id or EMPTY_UUID
    if isinstance(control, WorkRate):
        return "rate", "kind", "", control.kind.value, EMPTY_UUID
    scope = "lane" if control.lane is not None else "kind" if control.kind is not None else "org"
    return "pause", scope, control.lane or "", _name(control.kind), control.org_id or EMPTY_UUID


def _numbers(control: WorkControl) -> tuple[int | None, float | None, int | None]:
    """Return the columns `max_running`, `per_second` and `burst`."""
    if isinstance(control, WorkLimit):
        return control.max_running, None, None
    if isinstance(control, WorkRate):
        return None, control.per_second, control.burst
    return None, None, None


def _of(rows: Sequence[asyncpg.Record], what: str) -> list[asyncpg.Record]:
    return [row for row in rows if row["what"] == what]


def _limit(row: asyncpg.Record) -> WorkLimit:
    return WorkLimit(scope=LimitScope(row["scope"]), kind=_kind(row), org_id=_org(row), max_running=row["max_running"])


def _rate(row: asyncpg.Record) -> WorkRate:
    return WorkRate(kind=WorkKind.read(row["kind"]), per_second=row["per_second"], burst=row["burst"])


def _pause(row: asyncpg.Record) -> WorkPause:
    return WorkPause(lane=row["lane"] or None, kind=_kind(row), org_id=_org(row))


def _name(kind: WorkKind | None) -> str:
    return "" if kind is None else kind.value


def _kind(row: asyncpg.Record) -> WorkKind | None:
    return WorkKind.read(row["kind"]) if row["kind"] else None


def _org(row: asyncpg.Record) -> Any:  # noqa: ANN401 - the driver's own kind of id
    return None if row["org_id"] == EMPTY_UUID else row["org_id"]
