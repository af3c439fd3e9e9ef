"""Errors of the object model: a few shapes, which namespaces combine with names of their own."""

from http import HTTPStatus
from typing import ClassVar


class PlatformException(Exception):  # noqa: N818 - the field's word for this family is exception
    """The base of every error that a manager or a storage raises on purpose.

    Attributes:
        code: Stable machine-readable name; never changes once released.
        http_status: What an HTTP surface answers with.
        retryable: Whether the same call may succeed later without anybody changing anything.
            This is the one place that decides it.
    """

    code: ClassVar[str] = "platform_error"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    retryable: ClassVar[bool] = False


class NotFound(PlatformException):
    """The record is not there, or not in this tenant: the two look the same from outside."""

    code: ClassVar[str] = "not_found"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.NOT_FOUND


class Conflict(PlatformException):
    """Somebody else has changed what the caller holds; nothing was written."""

    code: ClassVar[str] = "conflict"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.CONFLICT


class PreconditionFailed(PlatformException):
    """The record is not in a state that allows this; nothing was written."""

    code: ClassVar[str] = "precondition_failed"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.PRECONDITION_FAILED


class ValidationFailed(PlatformException):
    """A value does not fit its field; the sentence names the field and what was expected.

    Args:
        field: The field at fault, dotted where it is nested.
        expected: What would have been right, as the end of "expected ...".
    """

    code: ClassVar[str] = "validation_failed"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: expected {expected}")
        self.field = field
        self.expected = expected


class NotAuthenticated(PlatformException):
    """The credential is missing, unknown, revoked or out of date."""

    code: ClassVar[str] = "not_authenticated"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.UNAUTHORIZED


class NotAuthorized(PlatformException):
    """The principal is known and may not do this."""

    code: ClassVar[str] = "not_authorized"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.FORBIDDEN


class Unavailable(PlatformException):
    """A backend did not answer in time or is not there; the same call may succeed later."""

    code: ClassVar[str] = "unavailable"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.SERVICE_UNAVAILABLE
    retryable: ClassVar[bool] = True
