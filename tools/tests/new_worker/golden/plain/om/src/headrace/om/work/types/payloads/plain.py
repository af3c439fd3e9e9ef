"""The payload of PLAIN."""

from typing import ClassVar

from pydantic import Field

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload


class PlainPayload(WorkPayload):
    """What an item of PLAIN carries."""

    kind: ClassVar[WorkKind] = WorkKind.PLAIN

    note: str | None = Field(default=None, min_length=1, max_length=1000)
