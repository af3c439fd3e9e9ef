"""Settings of a process: read from the environment once, refused in a sentence when they cannot work."""

from headrace.infra.settings.catalogue import SettingEntry, settings_catalogue
from headrace.infra.settings.checks import refuse_local_backends
from headrace.infra.settings.durations import Duration, format_duration, parse_duration, within
from headrace.infra.settings.loading import load_settings, misspelt_variables
from headrace.infra.settings.process import ENV_PREFIX, MetricsPort, ProcessSettings, ServiceName

__all__ = [
    "ENV_PREFIX",
    "Duration",
    "MetricsPort",
    "ProcessSettings",
    "ServiceName",
    "SettingEntry",
    "format_duration",
    "load_settings",
    "misspelt_variables",
    "parse_duration",
    "refuse_local_backends",
    "settings_catalogue",
    "within",
]
