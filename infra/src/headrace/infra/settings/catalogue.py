"""The settings of a process as data, from which `.env.example` and the Terraform inputs are written."""

import inspect
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from pydantic import SecretBytes, SecretStr
from pydantic.fields import FieldInfo

from headrace.infra.settings.durations import format_duration
from headrace.infra.settings.process import ProcessSettings


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """One setting of a process.

    Attributes:
        field: The field's name in the settings class.
        variable: The variable to write it under: the process's own where its class declares the field, else the shared.
        variables: Every variable it is read from, first one first.
        default: The value when no variable is set, as it would be written; None when there is none or it is "not set".
        description: What it decides, with its unit or form.
        is_secret: The value must never be written down.
        is_required: The process refuses to start without it.
    """

    field: str
    variable: str
    variables: tuple[str, ...]
    default: str | None
    description: str
    is_secret: bool
    is_required: bool


def settings_catalogue(cls: type[ProcessSettings]) -> tuple[SettingEntry, ...]:
    """Every setting of a class, inherited ones first, in the order of their declaration."""
    return tuple(_entry(cls, name, info) for name, info in cls.model_fields.items())


def is_secret(info: FieldInfo) -> bool:
    """Whether the field holds a secret, however deep in its type."""
    return any(part in {SecretStr, SecretBytes} for part in _parts(info.annotation))


def _entry(cls: type[ProcessSettings], name: str, info: FieldInfo) -> SettingEntry:
    variables = cls.variables_of(name)
    written = None if info.is_required() or is_secret(info) else _written(info.get_default(call_default_factory=True))
    return SettingEntry(
        field=name,
        variable=variables[0] if _declaring(cls, name).env_scope else variables[-1],
        variables=variables,
        default=written,
        description=info.description or "",
        is_secret=is_secret(info),
        is_required=info.is_required(),
    )


def _declaring(cls: type[ProcessSettings], name: str) -> type[ProcessSettings]:
    """The class that has the last word on the field."""
    for each in cls.__mro__:
        if issubclass(each, ProcessSettings) and name in inspect.get_annotations(each):
            return each
    return ProcessSettings


def _parts(annotation: object) -> Iterator[object]:
    yield annotation
    for inner in typing.get_args(annotation):
        yield from _parts(inner)


def _written(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | tuple | list | dict):
        return json.dumps(value, default=str)
    return str(value)
