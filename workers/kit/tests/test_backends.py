import pytest
from pydantic import ValidationError

from headrace.infra.cache.impl.redis import CacheRedisOptions
from headrace.infra.topics.codec import DEFAULT_NAMESPACE
from headrace.infra.topics.impl.listening import NAMESPACE
from headrace.workers.kit.backends import build_infra
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.testing import settings_for_tests

REDIS = "redis://127.0.0.1:6379/0"


@pytest.mark.parametrize(
    ("changes", "cache", "topics"),
    [
        ({"topics_backend": "memory"}, "memory", "in"),
        ({"topics_backend": "postgres"}, "memory", "listen/notify"),
        ({"topics_backend": "redis", "cache_backend": "redis", "redis_url": REDIS}, "redis", "publish/subscribe"),
    ],
)
def test_the_backends_are_those_that_the_settings_name(changes: dict[str, str], cache: str, topics: str) -> None:
    infra = build_infra(settings_for_tests(WorkerSettings, **changes))
    assert cache in infra.cache.describe()
    assert topics in infra.topics.describe()
    assert "unused" not in infra.topics.describe()


@pytest.mark.parametrize("topics_backend", ["postgres", "redis"])
def test_channels_and_keys_begin_as_the_settings_say(topics_backend: str) -> None:
    names = {"topics_namespace": "ours", "cache_namespace": "mine"}
    backends = {"topics_backend": topics_backend, "cache_backend": "redis", "redis_url": REDIS}
    infra = build_infra(settings_for_tests(WorkerSettings, **names, **backends))
    assert "channels ours_*" in infra.topics.describe()
    assert "namespace mine" in infra.cache.describe()


def test_the_namespaces_are_those_of_the_toolkits_when_nothing_is_set() -> None:
    settings = settings_for_tests(WorkerSettings)
    assert settings.topics_namespace == DEFAULT_NAMESPACE
    assert settings.cache_namespace == CacheRedisOptions().namespace


@pytest.mark.parametrize("name", ["", "Ours", "our-own", "1st", "a" * 25])
def test_a_namespace_is_refused_when_a_channel_cannot_begin_with_it(name: str) -> None:
    assert not NAMESPACE.fullmatch(name)
    with pytest.raises(ValidationError, match="topics_namespace"):
        settings_for_tests(WorkerSettings, topics_namespace=name)
