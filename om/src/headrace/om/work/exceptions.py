"""The queue's own errors, each with one of the shapes."""

from typing import ClassVar

from headrace.om.exceptions import Conflict, NotFound, PlatformException, PreconditionFailed, ValidationFailed


class WorkException(PlatformException):
    """The base of the queue's errors."""


class WorkItemNotFound(WorkException, NotFound):
    """No such item in this tenant."""

    code: ClassVar[str] = "work_item_not_found"


class WorkClaimLost(WorkException, Conflict):
    """The claim token no longer holds the item: its lease passed, or it was settled; nothing was changed."""

    code: ClassVar[str] = "work_claim_lost"


class WorkItemInWrongState(WorkException, PreconditionFailed):
    """The item's status does not allow this; nothing was changed."""

    code: ClassVar[str] = "work_item_in_wrong_state"


class WorkPayloadRefused(WorkException, ValidationFailed):
    """The payload does not fit its kind; the sentence names the field."""

    code: ClassVar[str] = "work_payload_refused"


class WorkItemTaken(WorkException, Conflict):
    """An item's id, key or uniqueness is there already, where all of several had to be new; nothing was written."""

    code: ClassVar[str] = "work_item_taken"


class WorkItemNotUnique(WorkException, Conflict):
    """An unsettled item agrees with this one in what it is unique for, so it cannot be queued; nothing was changed."""

    code: ClassVar[str] = "work_item_not_unique"


class WorkBundleNotFound(WorkException, NotFound):
    """No such bundle in this tenant."""

    code: ClassVar[str] = "work_bundle_not_found"


class WorkBundleInWrongState(WorkException, PreconditionFailed):
    """An item of the bundle is claimed, which does not allow this; nothing was changed."""

    code: ClassVar[str] = "work_bundle_in_wrong_state"


class WorkScheduleNotFound(WorkException, NotFound):
    """No such schedule in this tenant."""

    code: ClassVar[str] = "work_schedule_not_found"


class WorkScheduleNameTaken(WorkException, Conflict):
    """Another schedule of this tenant has the name; nothing was written."""

    code: ClassVar[str] = "work_schedule_name_taken"
