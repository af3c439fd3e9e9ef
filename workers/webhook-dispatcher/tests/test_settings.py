"""What the settings refuse, and what stands in more than one place."""

import tomllib
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from headrace.infra.settings.catalogue import settings_catalogue
from headrace.om.root import Infra
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.webhooks.types.delivery import DELIVERY_LANE
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.testing import settings_for_tests
from headrace.workers.webhook_dispatcher.container import WorkerContainer
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"post_total_timeout": timedelta(0)}, "post_total_timeout\n.*expected a duration from 1ms to 1d"),
        ({"post_read_timeout": 31 * SECOND}, "at most post_total_timeout=30s"),
        ({"post_connect_timeout": 31 * SECOND}, "at most post_total_timeout=30s"),
        ({"handler_timeout": 30 * SECOND}, "below the handler timeout of 30s"),
        ({"handler_timeouts": {WorkKind.DELIVER_WEBHOOK: 20 * SECOND}}, "below the handler timeout of 20s"),
        ({"post_max_response_bytes": 0}, "post_max_response_bytes"),
        ({"endpoint_failure_limit": 0}, "endpoint_failure_limit"),
        ({"allowed_networks": ["10.0.0.1/8"]}, "allowed_networks"),
        ({"environment": "production", "allow_private_addresses": True}, "allow_private_addresses is local-only"),
    ],
)
def test_settings_are_refused_when_they_cannot_work(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings_for_tests(WebhookDispatcherSettings, **changes)


def test_no_private_address_is_allowed_when_nothing_is_set() -> None:
    settings = settings_for_tests(WebhookDispatcherSettings)
    assert (settings.allow_private_addresses, settings.allowed_networks) == (False, ())


def test_networks_are_read_when_the_variable_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_WEBHOOK_DISPATCHER_ALLOWED_NETWORKS", '["10.1.0.0/16", "fd00::/8"]')
    settings = settings_for_tests(WebhookDispatcherSettings)
    assert settings.allowed_networks == (ip_network("10.1.0.0/16"), ip_network("fd00::/8"))


def test_every_setting_is_described_when_the_catalogue_is_written() -> None:
    assert all(entry.description for entry in settings_catalogue(WebhookDispatcherSettings))


def test_project_table_and_settings_agree_when_both_are_read() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    table = project["tool"]["headrace"]["worker"]
    fields = WebhookDispatcherSettings.model_fields
    assert (table["lane"], table["metrics_port"]) == (fields["lane"].default, fields["metrics_port"].default)
    assert (table["lane"], table["kind"]) == (DELIVERY_LANE, WorkKind.DELIVER_WEBHOOK)


async def test_the_kind_has_its_handler_when_the_worker_is_put_together(infra: Infra) -> None:
    built = WorkerContainer.for_tests(StorageMemoryImpl(), infra)
    async with built.poster:
        assert built.parts.registry.kinds == (WorkKind.DELIVER_WEBHOOK,)


async def test_nothing_is_opened_when_the_worker_is_built_over_servers() -> None:
    built = WorkerContainer.build(settings_for_tests(WebhookDispatcherSettings))
    await built.poster.close()
    await built.parts.storage.close()
