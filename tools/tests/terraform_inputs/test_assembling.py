import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Annotated, ClassVar

import pytest
from pydantic import Field, SecretStr

from headrace.tools.terraform_inputs.assembling import assemble
from headrace.tools.terraform_inputs.document import TerraformInputs, Worker
from headrace.tools.terraform_inputs.exceptions import TerraformInputsError
from headrace.tools.workers import ImageDeclaration, WorkerDeclaration, read_images
from headrace.workers.kit.settings import WorkerSettings

REPOSITORY = Path(__file__).parents[3]
CONSOLE = ImageDeclaration("console", "headrace", "headrace-console", None)


class ShopSettings(WorkerSettings):
    env_scope: ClassVar[str] = "SHOP"

    metrics_port: Annotated[int, Field(description="Port.")] = 9103
    carrier_url: Annotated[str, Field(description="Whom to ask.")]
    carrier_token: Annotated[SecretStr, Field(description="With which right.")]
    backup_token: Annotated[SecretStr | None, Field(description="With which other right.")] = None


class SlowSettings(ShopSettings):
    stop_window: Annotated[timedelta, Field(description="Too long.")] = timedelta(minutes=3)


class RushedSettings(ShopSettings):
    drain_budget: Annotated[timedelta, Field(description="Longer than the platform waits.")] = timedelta(seconds=40)


SHOP = WorkerDeclaration(
    name="shop",
    program="headrace-shop",
    kind="NOOP",
    lane="default",
    metrics_port=9103,
    cpu=256,
    memory=512,
    secrets=(),
)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of settings of a worker named shop."""
    module = ModuleType("headrace.workers.shop.settings")
    monkeypatch.setitem(sys.modules, "headrace.workers.shop", ModuleType("headrace.workers.shop"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    put(module, ShopSettings, monkeypatch)
    return module


def put(module: ModuleType, cls: type[WorkerSettings], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cls, "__module__", module.__name__)
    monkeypatch.setitem(module.__dict__, "Settings", cls)


def assembled(worker: WorkerDeclaration, digests: Mapping[str, str] | None = None) -> TerraformInputs:
    return assemble((CONSOLE, ImageDeclaration("shop", worker.program, "headrace-shop", worker)), digests)


def shop(worker: WorkerDeclaration) -> Worker:
    return assembled(worker).workers["shop"]


def refused(worker: WorkerDeclaration) -> str:
    with pytest.raises(TerraformInputsError) as caught:
        assembled(worker)
    return str(caught.value)


@pytest.mark.usefixtures("settings")
class TestSorting:
    def test_a_setting_without_a_default_is_a_required_variable(self) -> None:
        assert shop(SHOP).required_variables == ("HEADRACE_SHOP_CARRIER_URL",)

    def test_a_secret_without_a_default_is_a_secret_though_it_is_not_declared(self) -> None:
        assert shop(SHOP).secrets["HEADRACE_SHOP_CARRIER_TOKEN"] == "carrier_token"

    def test_a_secret_that_may_be_left_out_is_one_when_it_is_declared(self) -> None:
        assert "HEADRACE_SHOP_BACKUP_TOKEN" not in shop(SHOP).secrets
        assert shop(SHOP).optional_secrets["HEADRACE_SHOP_BACKUP_TOKEN"] == "backup_token"
        told = shop(replace(SHOP, secrets=("backup_token",)))
        assert told.secrets["HEADRACE_SHOP_BACKUP_TOKEN"] == "backup_token"
        assert "HEADRACE_SHOP_BACKUP_TOKEN" not in told.optional_secrets

    def test_every_setting_stands_in_exactly_one_place(self) -> None:
        told = shop(SHOP)
        names = [*told.settings, *told.required_variables, *told.secrets, *told.optional_secrets]
        assert len(names) == len(set(names)) == len(ShopSettings.model_fields)

    def test_a_default_is_as_it_would_be_written_and_empty_where_nothing_is_set(self) -> None:
        told = shop(SHOP).settings
        assert told["HEADRACE_LEASE"] == "1m"
        assert told["HEADRACE_OTEL_ENDPOINT"] == ""

    def test_a_value_of_this_environment_is_not_a_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADRACE_STOP_WINDOW", "90s")
        monkeypatch.setenv("HEADRACE_LEASE", "3m")
        assert (shop(SHOP).settings["HEADRACE_LEASE"], shop(SHOP).stop_timeout_seconds) == ("1m", 30)

    def test_the_platform_waits_longer_than_the_worker_drains(self) -> None:
        told = shop(SHOP)
        assert told.drain_seconds == 23
        assert told.stop_timeout_seconds > told.drain_seconds


class TestRefusals:
    @pytest.mark.parametrize(
        ("worker", "expected"),
        [
            (replace(SHOP, lane="other"), "lane is other; expected default"),
            (replace(SHOP, metrics_port=9104), "metrics_port is 9104; expected 9103"),
            (replace(SHOP, kind="NO_SUCH_KIND"), "kind is NO_SUCH_KIND; expected one of"),
            (replace(SHOP, secrets=("carrier_url",)), "has no secret carrier_url"),
        ],
    )
    @pytest.mark.usefixtures("settings")
    def test_a_declaration_that_the_settings_contradict_is_named(
        self, worker: WorkerDeclaration, expected: str
    ) -> None:
        sentence = refused(worker)
        assert sentence.startswith("workers/shop/pyproject.toml: ")
        assert expected in sentence

    def test_a_stop_that_takes_longer_than_the_platform_grants_is_refused(
        self, settings: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(settings, SlowSettings, monkeypatch)
        assert "stop_window is 3m; expected at most 120s" in refused(SHOP)

    def test_a_drain_above_the_stop_window_is_refused(
        self, settings: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(settings, RushedSettings, monkeypatch)
        assert "stop_window=30s: expected at least 50s" in refused(SHOP)

    def test_a_worker_without_a_settings_class_is_refused(self) -> None:
        assert "expected one settings class" in refused(SHOP)

    def test_a_tree_without_the_console_is_refused(self) -> None:
        with pytest.raises(TerraformInputsError, match="workers/console is missing"):
            assemble((), None)

    @pytest.mark.usefixtures("settings")
    def test_images_that_lack_a_program_are_refused(self) -> None:
        with pytest.raises(TerraformInputsError, match="no digest for console"):
            assembled(SHOP, {"shop": f"sha256:{'0' * 64}"})


def test_the_workers_of_this_tree_are_assembled() -> None:
    inputs = assemble(read_images(REPOSITORY), None)
    assert inputs.workers["maintenance"].health_check == ("CMD", "headrace-maintenance", "healthcheck")
    assert inputs.migration.secrets["HEADRACE_DATABASE_MIGRATION_PASSWORD"] == "database_migration_password"
