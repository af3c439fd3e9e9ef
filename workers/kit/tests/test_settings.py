from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import AfterValidator, ValidationError

from headrace.workers.kit.settings import WorkerSettings, config_of
from headrace.workers.kit.testing import settings_for_tests


class ShopSettings(WorkerSettings):
    model_config = config_of("shop")

    env_scope: ClassVar[str] = "SHOP"


def test_a_workers_own_file_is_read_above_the_working_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "workers" / "shop"
    folder.mkdir(parents=True)
    (tmp_path / ".env").write_text("HEADRACE_SHOP_CAPACITY=3\nHEADRACE_LANE=shared\n", encoding="ascii")
    (folder / ".env").write_text("HEADRACE_SHOP_CAPACITY=4\n", encoding="ascii")
    settings = settings_for_tests(ShopSettings)
    assert (settings.capacity, settings.lane) == (4, "shared")


def test_the_defaults_fit_each_other_when_nothing_is_set() -> None:
    settings = settings_for_tests(WorkerSettings)
    assert settings.lease >= 3 * settings.renewal_interval
    assert settings.shutdown_timeout < settings.stop_window


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"lease": "30s", "renewal_interval": "11s"}, ("lease=30s", "renewal_interval=11s")),
        ({"lease": "20s", "renewal_interval": "5s"}, ("database_statement_timeout=10s", "lease=20s")),
        ({"renewal_interval": "0s"}, ("renewal_interval", "from 1ms to 8h, got 0s")),
        ({"capacity": 11}, ("database_pool_size=10", "capacity=11")),
        ({"capacity": 0}, ("capacity", "greater than or equal to 1")),
        ({"database_control_pool_size": 2}, ("database_control_pool_size=2", "at least 3")),
        ({"drain_budget": "40s"}, ("drain_budget=40s", "stop_window=30s")),
        ({"flush_budget": "20s"}, ("flush_budget=20s", "stop_window=30s")),
        ({"heartbeat_ttl": "30s"}, ("heartbeat_ttl=30s", "heartbeat_interval=10s")),
        ({"handler_timeout": "11m"}, ("handler_timeout=11m", "blocked_loop_limit=10m")),
        ({"handler_timeouts": {"NOOP": "20m"}}, ("handler_timeouts.NOOP=20m", "blocked_loop_limit=10m")),
        ({"handler_timeout": "0s"}, ("handler_timeout", "expected a duration from")),
        ({"blocked_loop_limit": "30s", "handler_timeout": "10s"}, ("blocked_loop_limit=30s", "lease=1m")),
        ({"poll_interval": "0s"}, ("poll_interval", "expected a duration from")),
        ({"relay_interval": "0s"}, ("relay_interval", "expected a duration from")),
        ({"sweep_interval": "0s"}, ("sweep_interval", "expected a duration from")),
        ({"poll_age_limit": "2s"}, ("poll_age_limit=2s", "poll_interval=1s")),
        ({"heartbeat_interval": "0s"}, ("heartbeat_interval", "expected a duration from")),
        (
            {"retain_webhook_messages": "1d", "retain_settled_items": "2d"},
            ("retain_webhook_messages=1d", "retain_settled_items=2d"),
        ),
        ({"sweep_step_timeout": "0s"}, ("sweep_step_timeout", "from 100ms to 1h, got 0s")),
        ({"handler_timeouts": {"NOOP": "0s"}}, ("handler_timeouts.NOOP", "from 1ms to 7d, got 0s")),
        ({"lease": "4000000d"}, ("lease", "from 1s to 1d, got 4000000d")),
        ({"retain_settled_items": "9999d"}, ("retain_settled_items", "to 3650d")),
        ({"database_statement_timeout": "0s"}, ("database_statement_timeout", "from 10ms to 1d, got 0s")),
        ({"database_lock_timeout": "100000d"}, ("database_lock_timeout", "from 10ms to 1d, got 100000d")),
        ({"heartbeat_file": "beat"}, ("heartbeat_file", "readiness_file")),
    ],
)
def test_a_pair_is_refused_in_a_sentence_that_names_both_when_it_cannot_work(
    changes: dict[str, Any], names: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as refusal:
        settings_for_tests(WorkerSettings, **changes)
    for name in names:
        assert name in str(refusal.value)


def test_the_probe_allows_for_missed_beats_when_it_judges_their_age() -> None:
    settings = settings_for_tests(WorkerSettings, heartbeat_interval="2s", heartbeat_failure_limit=4)
    assert settings.heartbeat_max_age == timedelta(seconds=8)


def test_every_duration_has_bounds() -> None:
    unbounded = [
        name
        for name, info in WorkerSettings.model_fields.items()
        if info.annotation is timedelta and not any(isinstance(each, AfterValidator) for each in info.metadata)
    ]
    assert not unbounded
