"""A worker's settings and toolkits for tests over memory."""

from typing import Any

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.root import Infra
from headrace.workers.kit.settings import WorkerSettings


def settings_for_tests[SettingsT: WorkerSettings](cls: type[SettingsT], **changes: Any) -> SettingsT:  # noqa: ANN401 - any field
    """Return settings that name no real server, with some fields changed."""
    nowhere: dict[str, Any] = {
        "environment": "test",
        "database_url": "postgresql://127.0.0.1:1/nowhere",
        "database_runtime_password": "unused",
        "database_system_password": "unused",
        "metrics_port": 0,
    }
    return cls(**(nowhere | changes))


def infra_for_tests() -> Infra:
    """Return toolkits that live in this process; start and close them."""
    return Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl())
