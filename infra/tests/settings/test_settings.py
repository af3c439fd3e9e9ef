from datetime import timedelta
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings import (
    Duration,
    ProcessSettings,
    load_settings,
    misspelt_variables,
    refuse_local_backends,
    settings_catalogue,
)


class NotifierSettings(ProcessSettings):
    env_scope: ClassVar[str] = "SHIPMENT_NOTIFIER"

    lease: Annotated[Duration, Field(description="How long a claim lasts.")] = timedelta(seconds=90)
    metrics_port: int = 9101
    lanes: tuple[str, ...] = ("default",)
    is_eager: bool = False


class DatabaseSettings(ProcessSettings):
    env_scope: ClassVar[str] = "DB"

    core_url: Annotated[SecretStr, Field(min_length=20, description="Where the core role lives.")]


def test_a_field_reads_the_process_s_own_variable_before_the_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_LEASE", "1m")
    assert load_settings(NotifierSettings).lease == timedelta(minutes=1)
    monkeypatch.setenv("HEADRACE_SHIPMENT_NOTIFIER_LEASE", "2m")
    assert load_settings(NotifierSettings).lease == timedelta(minutes=2)


def test_the_settings_file_is_read_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("HEADRACE_LEASE=1m\nHEADRACE_RELEASE=r1\nHEADRACE_SHIPMENT_NOTIFIER_METRICS_PORT=1\n")
    settings = load_settings(NotifierSettings)
    assert (settings.lease, settings.release, settings.metrics_port) == (timedelta(minutes=1), "r1", 1)
    monkeypatch.setenv("HEADRACE_LEASE", "3m")
    assert load_settings(NotifierSettings).lease == timedelta(minutes=3)


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_REDIS_URL", "")
    assert load_settings(ProcessSettings).redis_url is None


def test_another_process_s_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CONSOLE_SESSION_TTL", "1h")
    load_settings(NotifierSettings)
    assert misspelt_variables(NotifierSettings) == {}


def test_a_misspelt_variable_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_SHIPMENT_NOTIFER_LEASE", "1h")
    monkeypatch.setenv("HEADRACE_SENTRY_DNS", "x")
    assert misspelt_variables(NotifierSettings) == {
        "HEADRACE_SHIPMENT_NOTIFER_LEASE": "HEADRACE_SHIPMENT_NOTIFIER_LEASE",
        "HEADRACE_SENTRY_DNS": "HEADRACE_SENTRY_DSN",
    }


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load_settings(ProcessSettings).release = "other"  # type: ignore[misc]  # that it is refused is the point


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("HEADRACE_SHIPMENT_NOTIFIER_LEASE", "soon", "HEADRACE_SHIPMENT_NOTIFIER_LEASE: expected a duration"),
        ("HEADRACE_LEASE", "soon", r"HEADRACE_LEASE: expected a duration .* got 'soon'"),
        ("HEADRACE_LOG_LEVEL", "LOUD", "HEADRACE_LOG_LEVEL: input should be 'DEBUG'"),
        ("HEADRACE_METRICS_PORT", "70000", "HEADRACE_METRICS_PORT: input should be less"),
        ("HEADRACE_LANES", "a,b", 'cannot be read, a list must be written as JSON: .*"lanes"'),
        ("HEADRACE_CACHE_BACKEND", "redis", "HEADRACE_REDIS_URL is not set, and HEADRACE_CACHE_BACKEND is redis"),
        ("HEADRACE_SECRETS_BACKEND", "file", "HEADRACE_SECRETS_DIR is not set"),
        ("HEADRACE_OTEL_ENDPOINT", "collector:4318", "HEADRACE_OTEL_ENDPOINT: string should match"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, sentence: str
) -> None:
    class Settings(NotifierSettings):
        metrics_port: Annotated[int, Field(le=65535)] = 9101

    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationInvalid, match=sentence):
        load_settings(Settings)


def test_every_missing_setting_is_named_with_its_meaning() -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load_settings(DatabaseSettings)
    assert str(caught.value) == (
        "HEADRACE_DB_CORE_URL or HEADRACE_CORE_URL is not set and is required: Where the core role lives."
    )


def test_a_refused_secret_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CORE_URL", "hunter2")
    with pytest.raises(ConfigurationInvalid, match="HEADRACE_CORE_URL") as caught:
        load_settings(DatabaseSettings)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_description_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_REDIS_URL", "redis://:hunter2@127.0.0.1")
    described = load_settings(NotifierSettings).describe()
    assert described["redis_url"] == "set"
    assert described["sentry_dsn"] == "unset"
    assert described["lease"] == "90s"
    assert "hunter2" not in str(described)


@pytest.mark.parametrize(
    ("environment", "expected"), [("local", "human"), ("test", "human"), ("staging", "json"), ("production", "json")]
)
def test_logs_are_json_in_the_cloud_and_human_elsewhere(
    monkeypatch: pytest.MonkeyPatch, environment: str, expected: str
) -> None:
    monkeypatch.setenv("HEADRACE_ENVIRONMENT", environment)
    assert load_settings(ProcessSettings).effective_log_format == expected


@pytest.fixture
def production(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("HEADRACE_ENVIRONMENT", "production")
    monkeypatch.setenv("HEADRACE_REDIS_URL", "redis://127.0.0.1")
    monkeypatch.setenv("HEADRACE_CACHE_BACKEND", "redis")
    return monkeypatch


@pytest.mark.usefixtures("production")
def test_production_accepts_backends_that_processes_share() -> None:
    refuse_local_backends(load_settings(ProcessSettings))


@pytest.mark.parametrize("variable", ["HEADRACE_CACHE_BACKEND", "HEADRACE_TOPICS_BACKEND"])
def test_production_refuses_a_backend_in_memory_by_its_variable(production: pytest.MonkeyPatch, variable: str) -> None:
    production.setenv(variable, "memory")
    with pytest.raises(ConfigurationInvalid, match=f"refused in production: {variable}=memory"):
        refuse_local_backends(load_settings(ProcessSettings))


class TwoFilesSettings(ProcessSettings):
    model_config = SettingsConfigDict(env_file=(".env", "own.env"))


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize(
    ("cls", "file"), [(ProcessSettings, ".env"), (TwoFilesSettings, ".env"), (TwoFilesSettings, "own.env")]
)
def test_production_refuses_secrets_from_a_settings_file(cls: type[ProcessSettings], file: str) -> None:
    Path(file).touch()
    with pytest.raises(ConfigurationInvalid, match=f"HEADRACE_SECRETS_BACKEND=env .*/{file},"):
        refuse_local_backends(load_settings(cls))


def test_a_later_settings_file_outranks_an_earlier() -> None:
    Path(".env").write_text("HEADRACE_RELEASE=r1\nHEADRACE_SERVICE=shared\n")
    Path("own.env").write_text("HEADRACE_RELEASE=r2\n")
    settings = load_settings(TwoFilesSettings)
    assert (settings.release, settings.service) == ("r2", "shared")


def test_a_local_process_may_use_what_it_likes() -> None:
    refuse_local_backends(load_settings(ProcessSettings))


def test_the_catalogue_tells_everything_about_a_setting() -> None:
    entries = {entry.field: entry for entry in settings_catalogue(NotifierSettings)}
    assert entries["lease"].variable == "HEADRACE_SHIPMENT_NOTIFIER_LEASE"
    assert entries["lease"].variables == ("HEADRACE_SHIPMENT_NOTIFIER_LEASE", "HEADRACE_LEASE")
    assert entries["lease"].default == "90s"
    assert entries["lease"].description == "How long a claim lasts."
    assert entries["metrics_port"].variable == "HEADRACE_SHIPMENT_NOTIFIER_METRICS_PORT"
    assert entries["log_level"].variable == "HEADRACE_LOG_LEVEL"
    assert (entries["lanes"].default, entries["is_eager"].default) == ('["default"]', "false")
    assert (entries["redis_url"].is_secret, entries["redis_url"].default) == (True, None)
    assert not any(entry.is_required for entry in entries.values())


def test_the_catalogue_marks_what_has_no_default() -> None:
    (entry,) = [entry for entry in settings_catalogue(DatabaseSettings) if entry.is_required]
    assert (entry.field, entry.is_secret, entry.default) == ("core_url", True, None)


def test_every_shared_default_reads_back_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    default = load_settings(NotifierSettings)
    for entry in settings_catalogue(NotifierSettings):
        if entry.default is not None:
            monkeypatch.setenv(entry.variable, entry.default)
    assert load_settings(NotifierSettings) == default


def test_every_shared_setting_is_described() -> None:
    assert all(entry.description for entry in settings_catalogue(ProcessSettings))
