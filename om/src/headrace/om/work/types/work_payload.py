"""What the payload model of every kind is."""

from typing import ClassVar

from headrace.om.base import Platform
from headrace.om.work.types.kinds import WorkKind


class WorkPayload(Platform):
    """The base of the payload models: one for each kind, each in a module of its own in `payloads/`."""

    kind: ClassVar[WorkKind]
    """Whose payload it is; every model sets it."""
