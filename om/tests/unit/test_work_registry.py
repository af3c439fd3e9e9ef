from functools import partial
from typing import override

import pytest

from headrace.om.base import EMPTY_UUID, FrozenMapping
from headrace.om.context import AppContext, AppType, OpContext, Role, SecurityContext
from headrace.om.exceptions import ValidationFailed
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.registry import HandlerFunction, HandlerRegistered, HandlerRegistry, RegistryClosed
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.deliver_webhook import DeliverWebhookPayload
from headrace.om.work.types.payloads.noop import NoopPayload
from headrace.om.work.types.work_item import WorkItem


class EchoHandler(WorkHandlerInterface):
    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> object:
        return item.payload["note"]


async def by_payload(payload: NoopPayload) -> str:
    return payload.note


async def by_all(item: WorkItem, payload: NoopPayload, ctx: OpContext) -> tuple[object, ...]:
    return item, payload, ctx


NOTE = WorkItem(kind=WorkKind.NOOP, origin="test", payload=FrozenMapping({"note": "hello"}))
CTX = OpContext(
    app=AppContext(type=AppType.TEST, version="test"),
    security=SecurityContext(
        user_id=EMPTY_UUID, org_id=EMPTY_UUID, role=Role.SERVICE, permissions=frozenset(), credential="test"
    ),
)


async def called(handler: object) -> object:
    registry = HandlerRegistry()
    registry.register(WorkKind.NOOP, handler)  # type: ignore[arg-type]  # refusals are tested too
    registered = registry.find(WorkKind.NOOP)
    assert registered is not None
    return await registered.call(CTX, NOTE, registered.payload_of(NOTE))


async def test_a_handler_object_is_called_with_the_item() -> None:
    assert await called(EchoHandler()) == "hello"


async def test_a_function_is_called_with_the_payload_in_its_model() -> None:
    assert await called(by_payload) == "hello"


async def test_a_function_is_given_what_its_annotations_ask_for_in_any_order() -> None:
    assert await called(by_all) == (NOTE, NoopPayload(note="hello"), CTX)


def test_a_second_handler_is_refused_when_the_kind_has_one() -> None:
    registry = HandlerRegistry()
    registry.register(WorkKind.NOOP, by_payload)
    with pytest.raises(HandlerRegistered, match="by_payload"):
        registry.register(WorkKind.NOOP, EchoHandler())


def test_another_handler_is_taken_when_the_first_was_unregistered() -> None:
    registry = HandlerRegistry()
    registry.register(WorkKind.NOOP, by_payload)
    assert registry.unregister(WorkKind.NOOP)
    assert not registry.unregister(WorkKind.NOOP)
    registry.register(WorkKind.NOOP, EchoHandler())
    assert registry.is_registered(WorkKind.NOOP)
    assert registry.kinds == (WorkKind.NOOP,)


def test_changes_are_refused_when_claiming_has_begun() -> None:
    registry = HandlerRegistry()
    registry.register(WorkKind.NOOP, by_payload)
    registry.begin_claiming()
    registry.begin_claiming()
    with pytest.raises(RegistryClosed):
        registry.register(WorkKind.DELIVER_WEBHOOK, by_payload)
    with pytest.raises(RegistryClosed):
        registry.unregister(WorkKind.NOOP)
    assert registry.is_registered(WorkKind.NOOP)


def test_a_function_is_refused_when_it_is_not_async() -> None:
    with pytest.raises(ValidationFailed, match="async function"):
        HandlerRegistry().register(WorkKind.NOOP, lambda payload: payload)


def test_a_function_is_refused_when_its_payload_is_of_another_kind() -> None:
    async def other(payload: DeliverWebhookPayload) -> None: ...

    with pytest.raises(ValidationFailed, match=r"other\(payload\): expected .* NoopPayload"):
        HandlerRegistry().register(WorkKind.NOOP, other)


async def positional(payload: NoopPayload, /) -> None: ...


async def any_number(*payload: NoopPayload) -> None: ...


async def unresolved(payload: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - as after an import for typing alone


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (positional, r"positional\(payload\): expected .* by its name"),
        (any_number, r"any_number\(payload\): expected .* by its name"),
        (unresolved, "unresolved: expected annotations"),
        (partial(by_payload), "expected annotations"),
    ],
    ids=["positional", "any-number", "unresolved", "partial"],
)
def test_a_function_is_refused_when_it_could_not_be_called(function: HandlerFunction, named: str) -> None:
    with pytest.raises(ValidationFailed, match=named):
        HandlerRegistry().register(WorkKind.NOOP, function)


def test_a_function_is_refused_when_it_takes_no_payload() -> None:
    async def none(item: WorkItem) -> None: ...

    with pytest.raises(ValidationFailed, match="exactly one parameter"):
        HandlerRegistry().register(WorkKind.NOOP, none)


def test_a_payload_is_refused_with_its_field_when_it_does_not_fit() -> None:
    registry = HandlerRegistry()
    registry.register(WorkKind.NOOP, by_payload)
    registered = registry.find(WorkKind.NOOP)
    assert registered is not None
    with pytest.raises(WorkPayloadRefused, match=r"payload\.note"):
        registered.payload_of(NOTE.with_changes(payload={"note": 1}))


def test_a_kind_that_this_release_does_not_know_gets_no_handler() -> None:
    with pytest.raises(ValidationFailed, match="kind: expected a kind that this release knows"):
        HandlerRegistry().register(WorkKind.read("SENT_BY_ANOTHER_RELEASE"), EchoHandler())
