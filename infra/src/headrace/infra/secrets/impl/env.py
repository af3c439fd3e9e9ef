"""Secrets in environment variables."""

import os
from collections.abc import Mapping
from typing import Final, override

from pydantic import SecretStr

from headrace.infra.exceptions import SecretNotFound
from headrace.infra.secrets import SecretsInterface, name_within

DEFAULT_PREFIX: Final = "HEADRACE_SECRET_"


class SecretsEnvImpl(SecretsInterface):
    """``env:NAME`` is the variable ``HEADRACE_SECRET_NAME``.

    The prefix is a fence: references come from records that tenants write, and must not reach the process's own
    variables.

    Args:
        environ: The variables; the process's own by default.
        prefix: What the variable's name has in front of the reference's.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ, *, prefix: str = DEFAULT_PREFIX) -> None:
        self._environ = environ
        self._prefix = prefix

    @override
    async def get(self, reference: str) -> SecretStr:
        value = self._environ.get(self._prefix + name_within(reference, "env"))
        if not value:
            raise SecretNotFound(f"secret {reference} cannot be found: the variable is not set or empty")
        return SecretStr(value)

    @override
    def describe(self) -> str:
        return f"environment variables {self._prefix}*"
