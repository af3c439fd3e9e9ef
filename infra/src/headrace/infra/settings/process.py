"""What every process is told by its environment, and where each value is looked up."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, override

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from headrace.infra.settings.durations import format_duration

ENV_PREFIX = "HEADRACE_"

type Environment = Literal["local", "test", "staging", "production"]
type LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
type Namespace = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
type LogFormat = Literal["human", "json"]

# Not `type` statements: a process gives a field another default under the same description, which pydantic reads here.
ServiceName = Annotated[str, Field(min_length=1, description="The process's name in logs, metrics and traces.")]
MetricsPort = Annotated[int, Field(ge=0, le=65535, description="Port of metrics and probes; 0 takes any free one.")]


class ProcessSettings(BaseSettings):
    """The settings that all processes share; a process's own class adds its fields and its `env_scope`.

    A field is looked up in `HEADRACE_<env_scope>_<FIELD>`, in the environment and then in the settings files, and after
    that in `HEADRACE_<FIELD>`, in the same order. The only settings file is `.env`, unless the class's `model_config`
    names several, of which a later one outranks an earlier. An empty variable counts as not set. Variables of other
    processes are ignored. Load it with `load_settings`, which words the errors.

    Attributes:
        env_scope: The process's own part in its variables' names, such as `WEBHOOK_DISPATCHER`.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    env_scope: ClassVar[str] = ""

    environment: Annotated[
        Environment, Field(description="Where the process runs; staging and production refuse local-only backends.")
    ] = "local"
    service: ServiceName = "headrace"
    release: Annotated[str, Field(min_length=1, description="The deployed version, such as the commit.")] = "dev"
    log_level: Annotated[LogLevel, Field(description="Lines below this level are not written.")] = "INFO"
    log_format: Annotated[
        LogFormat | None,
        Field(description="human or json; when not set, json in staging and production and human elsewhere."),
    ] = None
    redis_url: Annotated[
        SecretStr | None, Field(description="Redis for the cache and the topics, where they are set to redis.")
    ] = None
    cache_backend: Annotated[
        Literal["memory", "redis"], Field(description="Where the cache lives; memory is local-only.")
    ] = "memory"
    topics_backend: Annotated[
        Literal["memory", "postgres", "redis"], Field(description="What carries wake-ups; memory is local-only.")
    ] = "postgres"
    cache_namespace: Annotated[
        Namespace, Field(description="Begins every key in Redis; keeps installations that share a server apart.")
    ] = "headrace"
    topics_namespace: Annotated[
        Namespace,
        Field(description="Begins every channel; the same in all processes of an installation, and in `add_work`."),
    ] = "headrace"
    secrets_backend: Annotated[
        Literal["env", "file"], Field(description="Where secret references are resolved: variables or mounted files.")
    ] = "env"
    secrets_dir: Annotated[
        Path | None, Field(description="The folder of mounted secrets, one file each, for the file backend.")
    ] = None
    otel_endpoint: Annotated[
        str | None, Field(pattern=r"^https?://", description="OTLP over HTTP, base URL; tracing is off when not set.")
    ] = None
    sentry_dsn: Annotated[
        SecretStr | None, Field(description="Where errors are reported; reporting is off when not set.")
    ] = None
    metrics_host: Annotated[str, Field(min_length=1, description="Address that metrics and probes listen on.")] = (
        "127.0.0.1"
    )
    metrics_port: MetricsPort = 9464

    @property
    def is_cloud(self) -> bool:
        """Whether this is staging or production."""
        return self.environment in {"staging", "production"}

    @property
    def effective_log_format(self) -> LogFormat:
        """The log format as set, or the environment's own."""
        return self.log_format or ("json" if self.is_cloud else "human")

    @classmethod
    def variables_of(cls, field: str) -> tuple[str, ...]:
        """The variables a field is read from, first one first: the process's own, where it has one, and the shared."""
        shared = f"{ENV_PREFIX}{field.upper()}"
        return (f"{ENV_PREFIX}{cls.env_scope}_{field.upper()}", shared) if cls.env_scope else (shared,)

    def describe(self) -> dict[str, str]:
        """Every setting as text fit for a log; of a secret only whether it is set."""
        return {name: _shown(getattr(self, name)) for name in type(self).model_fields}

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        shared = (env_settings, dotenv_settings)
        if not cls.env_scope:
            return (init_settings, *shared)
        prefix = f"{ENV_PREFIX}{cls.env_scope}_"
        env_file = dotenv_settings.env_file if isinstance(dotenv_settings, DotEnvSettingsSource) else None
        return (
            init_settings,
            EnvSettingsSource(settings_cls, env_prefix=prefix),
            DotEnvSettingsSource(settings_cls, env_file=env_file, env_prefix=prefix),
            *shared,
        )

    @model_validator(mode="after")
    def _chosen_backends_have_what_they_need(self) -> Self:
        for field in ("cache_backend", "topics_backend"):
            if getattr(self, field) == "redis" and self.redis_url is None:
                raise ValueError(f"{self._named('redis_url')} is not set, and {self._named(field)} is redis")
        if self.secrets_backend == "file" and self.secrets_dir is None:
            raise ValueError(f"{self._named('secrets_dir')} is not set, and {self._named('secrets_backend')} is file")
        return self

    def _named(self, field: str) -> str:
        return self.variables_of(field)[-1]


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "set"
    if isinstance(value, timedelta):
        return format_duration(value)
    return "unset" if value is None else str(value)
