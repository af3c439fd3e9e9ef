"""What bounds, paces and pauses claims: the platform's, so said without signing in to an org."""

from headrace.om.work.types.control import WorkControl, WorkControls
from headrace.workers.console.actions.session import Operation


async def set_control(operation: Operation, control: WorkControl, origin: str) -> None:
    """Say it, in place of what was said about the same subject."""
    await operation.managers.work.set_control(operation.rctx, control, origin=origin)


async def remove_control(operation: Operation, control: WorkControl) -> bool:
    """Take back what is said about the control's subject; return whether anything was."""
    return await operation.managers.work.remove_control(operation.rctx, control)


async def get_controls(operation: Operation) -> WorkControls:
    """Return everything that is said."""
    return await operation.managers.work.get_controls(operation.rctx)
