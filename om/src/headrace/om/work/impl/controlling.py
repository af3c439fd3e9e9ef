"""What the platform's operators say about claims."""

from typing import Final, override

from headrace.om.context import RequestContext
from headrace.om.encoding import refuse_unstorable_text
from headrace.om.exceptions import ValidationFailed
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.manager import WorkControlInterface
from headrace.om.work.types.control import WorkControl, WorkControls, WorkPause

MAX_ORIGIN: Final = 100


class WorkControlImpl(WorkPart, WorkControlInterface):
    """The queue for who operates the platform."""

    @override
    async def set_control(self, rctx: RequestContext, control: WorkControl, *, origin: str) -> None:
        if not 1 <= len(origin) <= MAX_ORIGIN:
            raise ValidationFailed("origin", f"1 to {MAX_ORIGIN} characters, got {len(origin)}")
        refuse_unstorable_text("origin", origin)
        if isinstance(control, WorkPause) and control.lane is not None:
            refuse_unstorable_text("lane", control.lane)
        await self._storage.put_control(control, origin)

    @override
    async def remove_control(self, rctx: RequestContext, control: WorkControl) -> bool:
        was_said = await self._storage.delete_control(control)
        if was_said and isinstance(control, WorkPause) and control.lane is not None:
            self._wake([control.lane])
        return was_said

    @override
    async def get_controls(self, rctx: RequestContext) -> WorkControls:
        return await self._storage.read_controls()
