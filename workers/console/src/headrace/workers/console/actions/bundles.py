"""Bundles: looking, removing, waiting."""

from datetime import timedelta
from uuid import UUID

from headrace.om.work.types.bundle import BundleFilter, BundleStatus, WorkBundle
from headrace.workers.console.actions.session import Session
from headrace.workers.console.exceptions import NotSettledInTime


async def get_bundles(
    session: Session, where: BundleFilter, limit: int, after: UUID | None
) -> tuple[tuple[WorkBundle, ...], UUID | None]:
    """Return a page of bundles, newest first, and after which id the next page begins; None where this is the last."""
    bundles = await session.managers.work.get_bundles(session.ctx, where, limit, after)
    return bundles, bundles[-1].id if len(bundles) == limit else None


async def get_bundle(session: Session, bundle_id: UUID) -> WorkBundle:
    """Return one bundle."""
    return await session.managers.work.get_bundle(session.ctx, bundle_id)


async def delete_bundle(session: Session, bundle_id: UUID) -> None:
    """Remove a bundle and its items."""
    await session.managers.work.delete_bundle(session.ctx, bundle_id)


async def wait(session: Session, bundle_id: UUID, limit: timedelta) -> WorkBundle:
    """Return the bundle once it has settled.

    Raises:
        NotSettledInTime: It has not within the limit.
    """
    bundle = await session.managers.work.wait_bundle_settled(session.ctx, bundle_id, limit)
    if bundle.status is not BundleStatus.SETTLED:
        counts = f"{bundle.num_settled} of {bundle.num_items} items have settled"
        raise NotSettledInTime(f"bundle {bundle.id} is still {bundle.status}: {counts}")
    return bundle
