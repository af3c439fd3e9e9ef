"""The payload of HTTP2_PING."""

from datetime import date
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from acme_works.om.work.types.kinds import WorkKind
from acme_works.om.work.types.work_payload import WorkPayload


class Http2PingPayload(WorkPayload):
    """What an item of HTTP2_PING carries."""

    kind: ClassVar[WorkKind] = WorkKind.HTTP2_PING

    id: int = Field(strict=True, ge=-(2**63), lt=2**63)
    ratio: float | None = Field(default=None, strict=True, allow_inf_nan=False)
    is_new: bool = Field(strict=True)
    day: date
    at: tuple[AwareDatetime, ...] = Field(max_length=1000)
    names: tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...] | None = Field(
        default=None, max_length=1000
    )
    parts: tuple[UUID, ...] = Field(max_length=1000)
