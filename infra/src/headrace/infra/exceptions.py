"""Errors of the process-level toolkits: one base that says how the outside should read it."""

from http import HTTPStatus
from typing import ClassVar


class InfraException(Exception):  # noqa: N818 - the field's word for this family is exception
    """An error of a toolkit, with the same fields as the object model's own.

    Attributes:
        code: Stable machine-readable name; never changes once released.
        http_status: What an HTTP surface answers with.
        retryable: Whether the same call may succeed later without anybody changing anything.
    """

    code: ClassVar[str] = "infra_error"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    retryable: ClassVar[bool] = False


class BackendUnavailable(InfraException):
    """A backend (Redis, Postgres, a secret store) did not answer in time or not at all."""

    code: ClassVar[str] = "backend_unavailable"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.SERVICE_UNAVAILABLE
    retryable: ClassVar[bool] = True


class ConfigurationInvalid(InfraException):
    """A setting, or two settings taken together, cannot work; the sentence names them and what was expected."""

    code: ClassVar[str] = "configuration_invalid"


class SecretNotFound(InfraException):
    """A secret reference resolves to nothing in the store it names."""

    code: ClassVar[str] = "secret_not_found"
