"""The console's own refusals, each with one of the shapes."""

from typing import ClassVar

from headrace.om.exceptions import NotAuthenticated, PreconditionFailed


class ApiKeyMissing(NotAuthenticated):
    """Nobody said who asks."""

    code: ClassVar[str] = "api_key_missing"


class SecretsStoreMissing(PreconditionFailed):
    """A signing secret is to be generated and there is nowhere to keep it; nothing was written."""

    code: ClassVar[str] = "secrets_store_missing"


class NotSettledInTime(PreconditionFailed):
    """What was waited for has not settled within the time; nothing was changed."""

    code: ClassVar[str] = "not_settled_in_time"
