"""The settings of the console."""

from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from headrace.infra.settings import ServiceName
from headrace.om.storage.settings import StorageSettings

LOCAL_ENV_FILE: Final = Path(".headrace", "local.env")
"""What a local run writes for other terminals of the working tree; `.env` files and the environment outrank it."""


class ConsoleSettings(StorageSettings):
    """What the console is told: where the platform's backends are, and who asks."""

    model_config = SettingsConfigDict(env_file=(LOCAL_ENV_FILE, ".env", "workers/console/.env"))

    env_scope: ClassVar[str] = "CONSOLE"

    service: ServiceName = "console"
    api_key: Annotated[
        SecretStr | None, Field(description="Who asks: a token of an API key; `headrace seed` makes one.")
    ] = None
