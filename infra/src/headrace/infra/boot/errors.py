"""Reporting of errors to Sentry, where a DSN is set."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.infra.boot.log_context import current_log_context
from headrace.infra.exceptions import ConfigurationInvalid

if TYPE_CHECKING:
    from pydantic import SecretStr
    from sentry_sdk.types import Event, Hint

_FLUSH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ErrorReporting:
    """What reports errors.

    Attributes:
        description: For a log line; holds no part of the DSN.
        close: Sends what is left, within two seconds, and ends. Safe twice.
    """

    description: str
    close: Callable[[], None]


def report_errors(dsn: "SecretStr | None", *, environment: str, release: str) -> ErrorReporting:
    """Reports every line logged at ERROR, with the identifiers of its log context as tags.

    No local variables and no request bodies are sent, since they hold payloads; nor, by the SDK's default, what is
    personal in a request.

    Args:
        dsn: Where to; None reports nothing.
        environment: On every event.
        release: On every event.

    Raises:
        ConfigurationInvalid: A DSN is set and cannot be one, or the SDK is not installed.
    """
    if dsn is None:
        return ErrorReporting("off", close=lambda: None)
    try:
        import sentry_sdk  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise ConfigurationInvalid(
            "HEADRACE_SENTRY_DSN is set, but sentry-sdk is not installed:"
            " install headrace-infra[errors], or leave the variable empty"
        ) from error
    try:
        sentry_sdk.init(
            dsn.get_secret_value(),
            environment=environment,
            release=release,
            before_send=_tagged,
            include_local_variables=False,
            max_request_body_size="never",
        )
    except sentry_sdk.utils.BadDsn as error:
        raise ConfigurationInvalid("HEADRACE_SENTRY_DSN is no Sentry DSN, expected https://KEY@HOST/PROJECT") from error
    return ErrorReporting("sentry", close=_close_sentry)


def _tagged(event: "Event", _hint: "Hint") -> "Event":
    event["tags"] = {**event.get("tags", {}), **current_log_context()}
    return event


def _close_sentry() -> None:
    import sentry_sdk  # noqa: PLC0415 - an optional extra

    sentry_sdk.get_client().close(timeout=_FLUSH_SECONDS)
    sentry_sdk.get_global_scope().set_client(None)
