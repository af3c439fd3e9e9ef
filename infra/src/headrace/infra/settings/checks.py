"""Refusals that compare settings with the environment a process says it runs in."""

from pathlib import Path

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings.process import ProcessSettings

_LOCAL_ONLY = {"cache_backend": "memory", "topics_backend": "memory"}


def refuse_local_backends(settings: ProcessSettings) -> None:
    """Refuses what works on one machine only, in a process that calls itself staging or production.

    Raises:
        ConfigurationInvalid: Names every such setting and what it may be instead.
    """
    if not settings.is_cloud:
        return
    problems = [
        f"{settings.variables_of(field)[-1]}={local} is local-only"
        for field, local in _LOCAL_ONLY.items()
        if getattr(settings, field) == local
    ]
    if settings.secrets_backend == "env" and (found := _settings_file(settings)):
        problems.append(
            f"{settings.variables_of('secrets_backend')[-1]}=env would take secrets from the settings file {found},"
            " which is local-only"
        )
    if problems:
        raise ConfigurationInvalid(f"refused in {settings.environment}: {'; '.join(problems)}")


def _settings_file(settings: ProcessSettings) -> Path | None:
    named = type(settings).model_config.get("env_file") or ()
    files = (named,) if isinstance(named, str | Path) else named
    return next((Path(each).resolve() for each in files if Path(each).is_file()), None)
