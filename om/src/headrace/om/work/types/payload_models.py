"""Which payload model each kind has, found by looking into the package `payloads`."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Final

from headrace.om.work.types import payloads
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload


def payload_models(package: ModuleType) -> Mapping[WorkKind, type[WorkPayload]]:
    """Return the payload model of every kind, in the order of the kinds.

    Args:
        package: Its modules are imported; a model counts in the module that defines it.

    Raises:
        TypeError: A kind has no model or two, or a model names no kind; the sentence says which, and where.
    """
    found: dict[WorkKind, type[WorkPayload]] = {}
    for model in _models_in(package):
        if (first := found.setdefault(_kind_of(model), model)) is not model:
            raise TypeError(f"{model.kind} has two payload models: {_place_of(first)} and {_place_of(model)}")
    if missing := [kind for kind in WorkKind if kind not in found]:
        raise TypeError(
            f"{missing[0]} has no payload model: expected a WorkPayload with `kind = WorkKind.{missing[0].name}`"
            f" in a module of {package.__name__}"
        )
    return MappingProxyType({kind: found[kind] for kind in WorkKind})


def _models_in(package: ModuleType) -> Iterator[type[WorkPayload]]:
    for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        for _, model in inspect.getmembers(module, inspect.isclass):
            if issubclass(model, WorkPayload) and model.__module__ == module.__name__:
                yield model


def _kind_of(model: type[WorkPayload]) -> WorkKind:
    kind = getattr(model, "kind", None)
    if not isinstance(kind, WorkKind):
        raise TypeError(f"{_place_of(model)} names no kind: expected `kind: ClassVar[WorkKind] = WorkKind...`")
    return kind


def _place_of(model: type[WorkPayload]) -> str:
    return f"{model.__module__}.{model.__qualname__}"


WORK_PAYLOADS: Final[Mapping[WorkKind, type[WorkPayload]]] = payload_models(payloads)
"""The payload model of each kind: checked when an item is enqueued and again when it is handled."""
