"""The payload of NOOP."""

from typing import ClassVar

from pydantic import Field

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload


class NoopPayload(WorkPayload):
    """Nothing to do; the note is for whoever looks at the item."""

    kind: ClassVar[WorkKind] = WorkKind.NOOP

    note: str = Field(default="", max_length=200_000)
