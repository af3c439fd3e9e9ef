"""Which handler does the work of which kind; filled at start-up, closed once claiming has begun."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, get_type_hints, override

from headrace.om.base import Platform
from headrace.om.context import OpContext
from headrace.om.exceptions import Conflict, PreconditionFailed, ValidationFailed
from headrace.om.work.exceptions import WorkException
from headrace.om.work.payload import checked_payload
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payload_models import WORK_PAYLOADS
from headrace.om.work.types.work_item import WorkItem

type HandlerFunction = Callable[..., Awaitable[Any]]
"""An async function whose parameters are told apart by their annotations, in any order: the kind's payload model
(required), `OpContext` and `WorkItem` (where wanted)."""


class HandlerRegistered(WorkException, Conflict):
    """The kind has a handler already; the first one stays."""

    code = "handler_registered"


class RegistryClosed(WorkException, PreconditionFailed):
    """Claiming has begun, so the handlers can no longer change; nothing was changed."""

    code = "registry_closed"


@dataclass(frozen=True, slots=True)
class RegisteredHandler:
    """One kind's handler, callable with an item and its payload in the kind's own model."""

    kind: WorkKind
    handler: WorkHandlerInterface | HandlerFunction
    call: Callable[[OpContext, WorkItem, Platform], Awaitable[Any]]
    """Does the work: takes the context of the claim, the item and its checked payload."""

    def payload_of(self, item: WorkItem) -> Platform:
        """Return the item's payload, checked against the kind's model.

        Raises:
            WorkPayloadRefused: It does not fit, or no longer; the sentence names the field.
        """
        return checked_payload(item)


class HandlerRegistry:
    """The handlers of one worker. For one thread; reads are free at any time."""

    def __init__(self) -> None:
        self._handlers: dict[WorkKind, RegisteredHandler] = {}
        self._is_closed = False

    @property
    def kinds(self) -> tuple[WorkKind, ...]:
        """The kinds that have a handler, in the order of their registration."""
        return tuple(self._handlers)

    @property
    def handlers(self) -> Mapping[WorkKind, RegisteredHandler]:
        """A view of the handlers by kind."""
        return MappingProxyType(self._handlers)

    def register(self, kind: WorkKind, handler: WorkHandlerInterface | HandlerFunction) -> None:
        """Give a kind its handler: an object, or an async function with a typed payload parameter.

        Raises:
            RegistryClosed: Claiming has begun.
            HandlerRegistered: The kind has a handler already.
            ValidationFailed: Nothing is known of the kind; the function is not async; or its parameters cannot be told
                apart or given by name. The sentence names the function and the parameter.
        """
        self._refuse_when_closed(f"{kind} cannot be registered")
        if not kind.is_known:
            raise ValidationFailed("kind", f"a kind that this release knows, got {kind}")
        if kind in self._handlers:
            raise HandlerRegistered(f"{kind} has a handler already: {_name_of(self._handlers[kind].handler)}")
        self._handlers[kind] = RegisteredHandler(kind, handler, _caller_of(kind, handler))

    def unregister(self, kind: WorkKind) -> bool:
        """Take a kind's handler away; return whether it had one.

        Raises:
            RegistryClosed: Claiming has begun.
        """
        self._refuse_when_closed(f"{kind} cannot be unregistered")
        return self._handlers.pop(kind, None) is not None

    def is_registered(self, kind: WorkKind) -> bool:
        """Return whether the kind has a handler."""
        return kind in self._handlers

    def find(self, kind: WorkKind) -> RegisteredHandler | None:
        """Return the kind's handler, or None: items of such a kind are released, not failed."""
        return self._handlers.get(kind)

    def begin_claiming(self) -> None:
        """Close the registry, for the claim loop's start; safe to call twice."""
        self._is_closed = True

    def _refuse_when_closed(self, what: str) -> None:
        if self._is_closed:
            raise RegistryClosed(f"{what}: claiming has begun, register every handler before the worker starts")


def _caller_of(
    kind: WorkKind, handler: WorkHandlerInterface | HandlerFunction
) -> Callable[[OpContext, WorkItem, Platform], Awaitable[Any]]:
    if isinstance(handler, WorkHandlerInterface):
        return _ObjectCaller(handler)
    if not inspect.iscoroutinefunction(handler):
        raise ValidationFailed("handler", f"a WorkHandlerInterface or an async function, got {_name_of(handler)}")
    return _FunctionCaller(handler, _sources_of(kind, handler))


class _ObjectCaller:
    def __init__(self, handler: WorkHandlerInterface) -> None:
        self._handle = handler.handle

    def __call__(self, ctx: OpContext, item: WorkItem, _payload: Platform) -> Awaitable[Any]:
        return self._handle(ctx, item)


class _FunctionCaller:
    def __init__(self, function: HandlerFunction, sources: Mapping[str, int]) -> None:
        self._function = function
        self._sources = sources

    def __call__(self, ctx: OpContext, item: WorkItem, payload: Platform) -> Awaitable[Any]:
        given = (ctx, item, payload)
        return self._function(**{name: given[position] for name, position in self._sources.items()})

    @override
    def __repr__(self) -> str:
        return f"_FunctionCaller({_name_of(self._function)})"


_PAYLOAD: Final = 2
_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def _sources_of(kind: WorkKind, function: HandlerFunction) -> Mapping[str, int]:
    """Return, for each parameter of the function, which of context, item and payload it takes."""
    hints, parameters = _annotations_of(function), inspect.signature(function).parameters
    if nameless := [each.name for each in parameters.values() if each.kind not in _BY_NAME]:
        raise ValidationFailed(f"{_name_of(function)}({nameless[0]})", "a parameter that can be given by its name")
    wanted: dict[object, int] = {OpContext: 0, WorkItem: 1, WORK_PAYLOADS[kind]: _PAYLOAD}
    sources = {name: wanted.get(hints.get(name)) for name in parameters}
    if odd := [name for name, source in sources.items() if source is None]:
        raise ValidationFailed(
            f"{_name_of(function)}({odd[0]})", f"to be annotated OpContext, WorkItem or {WORK_PAYLOADS[kind].__name__}"
        )
    known = {name: source for name, source in sources.items() if source is not None}
    if list(known.values()).count(_PAYLOAD) != 1:
        raise ValidationFailed(_name_of(function), f"exactly one parameter annotated {WORK_PAYLOADS[kind].__name__}")
    return known


def _annotations_of(function: HandlerFunction) -> Mapping[str, object]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError) as error:
        raise ValidationFailed(_name_of(function), f"annotations that can be read at run time ({error})") from error


def _name_of(handler: object) -> str:
    return getattr(handler, "__qualname__", type(handler).__name__)
