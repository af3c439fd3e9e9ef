"""The toolkits that a process's settings name."""

from collections.abc import Callable
from typing import Final

from headrace.infra.cache import CacheInterface
from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.secrets import SecretsInterface
from headrace.infra.secrets.impl.by_scheme import SecretsBySchemeImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.secrets.impl.file import SecretsFileImpl
from headrace.infra.topics import TopicsInterface
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.impl.postgres import TopicsPostgresImpl
from headrace.om.root import Infra, ignore_dead_letter
from headrace.om.storage.options import database_options
from headrace.om.storage.settings import StorageSettings
from headrace.om.work.types.kinds import WorkKind

_REDIS_NEEDED: Final = "redis_url: expected an address, since cache_backend or topics_backend is redis"


def build_infra(settings: StorageSettings, *, on_dead_letter: Callable[[WorkKind], None] = ignore_dead_letter) -> Infra:
    """Return the toolkits over the backends that the settings name; opens nothing.

    Raises:
        ConfigurationInvalid: An address cannot be read.
    """
    return Infra.over(
        cache=_cache(settings),
        topics=_topics(settings),
        secrets=_secrets(settings),
        wakeup_window=settings.wakeup_window,
        on_dead_letter=on_dead_letter,
    )


def _cache(settings: StorageSettings) -> CacheInterface:
    if settings.cache_backend == "memory":
        return CacheMemoryImpl()
    from headrace.infra.cache.impl.redis import CacheRedisImpl, CacheRedisOptions  # noqa: PLC0415 - 20 MB, for who uses it

    return CacheRedisImpl(_redis_url(settings), CacheRedisOptions(namespace=settings.cache_namespace))


def _topics(settings: StorageSettings) -> TopicsInterface:
    match settings.topics_backend:
        case "redis":
            from headrace.infra.topics.impl.redis import TopicsRedisImpl  # noqa: PLC0415 - 20 MB, for who uses it

            return TopicsRedisImpl(_redis_url(settings), namespace=settings.topics_namespace)
        case "postgres":
            listen = database_options(settings).listen_url
            dsn = listen.render_as_string(hide_password=False)
            return TopicsPostgresImpl(dsn, namespace=settings.topics_namespace)
        case "memory":
            return TopicsInProcessImpl()


def _secrets(settings: StorageSettings) -> SecretsInterface:
    stores: dict[str, SecretsInterface] = {}
    if settings.secrets_dir is not None:
        stores["file"] = SecretsFileImpl(settings.secrets_dir)
    if settings.secrets_backend == "env":
        stores["env"] = SecretsEnvImpl()
    return SecretsBySchemeImpl(stores)


def _redis_url(settings: StorageSettings) -> str:
    if settings.redis_url is None:
        raise ConfigurationInvalid(_REDIS_NEEDED)
    return settings.redis_url.get_secret_value()
