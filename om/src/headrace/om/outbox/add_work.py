"""Work that is enqueued when the caller's own transaction commits, and never when it does not."""

from collections.abc import Sequence
from typing import Any, Final, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headrace.infra.topics import OutboxPending, Topics
from headrace.infra.topics.codec import DEFAULT_NAMESPACE, channel_of, encode
from headrace.om.context import ProvenanceScope
from headrace.om.exceptions import PreconditionFailed
from headrace.om.outbox.rules import encoded_payload
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.roles import TENANT_SETTING

# The subquery reads the former tenant before the outer call replaces it; OFFSET keeps the two apart.
_ENTER: Final = (
    f"SELECT former, set_config('{TENANT_SETTING}', $1, true)"  # noqa: S608 - a constant
    f" FROM (SELECT current_setting('{TENANT_SETTING}', true) AS former OFFSET 0) AS before"
)
_INSERT: Final = (
    "INSERT INTO core.outbox_rows (org_id, id, kind, payload, actor_id, request_id, traceparent, created_at)"
    " VALUES ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id"
)
_LEAVE: Final = f"SELECT set_config('{TENANT_SETTING}', $1, true), pg_notify($2, $3)"


class CallerConnection(Protocol):
    """What is used of a caller's own asyncpg connection."""

    def is_in_transaction(self) -> bool:
        """Return whether a transaction is open."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> Any:  # noqa: ANN401 - the driver's own signature
        """Run a statement and return its first row."""
        ...


async def add_work(
    connection_or_session: CallerConnection | AsyncSession,
    ctx: ProvenanceScope,
    row: OutboxRow,
    *,
    topics_namespace: str = DEFAULT_NAMESPACE,
) -> None:
    """Insert the row inside the caller's transaction and have the relay woken when it commits.

    Rolled back means never enqueued; committed means enqueued once, within milliseconds where a relay listens on
    this database, else at its next sweep. Adding the same row again changes nothing. The tenant that the
    transaction names is the same afterwards as before.

    Args:
        connection_or_session: An asyncpg connection with an open transaction, or an SQLAlchemy session over
            asyncpg, which begins one. It must be on the core database, as the runtime login or a member of it.
        ctx: The tenant, and who asks.
        row: What `work_row` returned.
        topics_namespace: As the workers have it in their setting `topics_namespace`; with another one the row waits
            for the next sweep.

    Raises:
        PreconditionFailed: The connection has no open transaction; nothing was written.
        ValidationFailed: The row cannot be stored; nothing was written.
        Exception: The driver's own errors, as of any other statement of the caller's transaction, which they abort.
    """
    payload = encoded_payload(row)
    if not isinstance(connection_or_session, AsyncSession) and not connection_or_session.is_in_transaction():
        raise PreconditionFailed("add_work: expected a connection inside a transaction, whose fate the work shares")
    former = (await _first(connection_or_session, _ENTER, [str(ctx.org_id)]))[0]
    values = [ctx.org_id, row.id, row.kind, payload, row.actor_id, row.request_id, row.traceparent, row.created_at]
    await _first(connection_or_session, _INSERT, values)
    await _first(connection_or_session, _LEAVE, [former or "", *_wake_up(ctx, topics_namespace)])


def _wake_up(ctx: ProvenanceScope, namespace: str) -> tuple[str, str]:
    """Return channel and message; equal messages of one transaction reach the relay once."""
    message = encode(Topics.OUTBOX_PENDING, OutboxPending(idempotency_key=str(ctx.request_id)))
    return channel_of(namespace, Topics.OUTBOX_PENDING), message or ""


async def _first(where: CallerConnection | AsyncSession, sql: str, values: Sequence[object]) -> Any:  # noqa: ANN401 - a row of either driver
    if isinstance(where, AsyncSession):
        connection = await where.connection()
        return (await connection.exec_driver_sql(sql, tuple(values))).first()
    return await where.fetchrow(sql, *values)
