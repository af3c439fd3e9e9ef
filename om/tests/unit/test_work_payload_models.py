"""How the payload models are found; whole packages are written for the faults."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payload_models import WORK_PAYLOADS, payload_models
from headrace.om.work.types.payloads.deliver_webhook import DeliverWebhookPayload
from headrace.om.work.types.payloads.noop import NoopPayload

type Written = Callable[..., ModuleType]

HEAD = """
from typing import ClassVar
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload
"""


def model(name: str, kind: WorkKind) -> str:
    return f"\nclass {name}(WorkPayload):\n    kind: ClassVar[WorkKind] = WorkKind.{kind.name}\n"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Returns a package with the given modules, beside one good model of each kind."""
    monkeypatch.syspath_prepend(str(tmp_path))
    # A name for each test: a module once imported stays.
    package = tmp_path / f"payloads_of_{tmp_path.name}"
    package.mkdir()

    def write(*, but: WorkKind | None = None, **modules: str) -> ModuleType:
        good = {kind.name.lower(): model("Good", kind) for kind in WorkKind if kind is not but}
        for name, text in {"__init__": "", **good, **modules}.items():
            (package / f"{name}.py").write_text(HEAD + text, encoding="utf-8")
        return importlib.import_module(package.name)

    return write


def test_every_kind_has_the_model_that_names_it() -> None:
    assert WORK_PAYLOADS[WorkKind.NOOP] is NoopPayload
    assert WORK_PAYLOADS[WorkKind.DELIVER_WEBHOOK] is DeliverWebhookPayload
    assert tuple(WORK_PAYLOADS) == tuple(WorkKind)


def test_models_are_found_in_the_order_of_the_kinds_whatever_their_modules_are_called(written: Written) -> None:
    assert tuple(payload_models(written(but=WorkKind.NOOP, zz=model("Late", WorkKind.NOOP)))) == tuple(WorkKind)


def test_a_model_that_is_only_imported_does_not_count_twice(written: Written) -> None:
    package = written(other="from headrace.om.work.types.payloads.noop import NoopPayload\n")
    assert len(payload_models(package)) == len(WorkKind)


def test_a_kind_without_a_model_is_named(written: Written) -> None:
    package = written(but=WorkKind.NOOP)
    with pytest.raises(
        TypeError, match=rf"NOOP has no payload model: .*WorkKind\.NOOP.* in a module of {package.__name__}"
    ):
        payload_models(package)


def test_both_models_are_named_when_a_kind_has_two(written: Written) -> None:
    package = written(other=model("Second", WorkKind.NOOP))
    with pytest.raises(TypeError, match=r"NOOP has two payload models: \S+\.noop\.Good and \S+\.other\.Second"):
        payload_models(package)


@pytest.mark.parametrize("kind", ["", "    kind = 'NOOP'\n"])
def test_a_model_without_a_kind_is_named(written: Written, kind: str) -> None:
    package = written(other=f"\nclass Stray(WorkPayload):\n    note: str\n{kind}")
    with pytest.raises(TypeError, match=r"\.other\.Stray names no kind"):
        payload_models(package)
