"""The settings of the console."""

from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from headrace.om.storage.settings import StorageSettings

LOCAL_ENV_FILE: Final = Path(".headrace", "local.env")
"""What a local run writes for the other terminals of the working tree; `.env` and the environment outrank it."""


class ConsoleSettings(StorageSettings):
    """What the console is told: where the platform's backends are, and who asks."""

    model_config = SettingsConfigDict(env_file=(LOCAL_ENV_FILE, ".env"))

    env_scope: ClassVar[str] = "CONSOLE"

    service: Annotated[str, Field(min_length=1, description="The process's name in logs, metrics and traces.")] = (
        "console"
    )
    api_key: Annotated[
        SecretStr | None, Field(description="Who asks: a token of an API key; `headrace seed` makes one.")
    ] = None
