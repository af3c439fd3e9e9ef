"""Secrets in environment variables: the contract, and the fence around the process's own variables."""

from collections.abc import Callable

import pytest

from headrace.infra.exceptions import SecretNotFound
from headrace.infra.secrets.impl.env import DEFAULT_PREFIX, SecretsEnvImpl
from infra.tests.contracts.secrets import SecretsContract


class TestSecretsEnv(SecretsContract):
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {}

    @pytest.fixture
    def store(self, environ: dict[str, str]) -> SecretsEnvImpl:
        return SecretsEnvImpl(environ)

    @pytest.fixture
    def plant(self, environ: dict[str, str]) -> Callable[[str, str], None]:
        return lambda name, value: environ.update({DEFAULT_PREFIX + name: value})

    @pytest.fixture
    def scheme(self) -> str:
        return "env"


async def test_a_variable_is_out_of_reach_when_it_lacks_the_prefix() -> None:
    store = SecretsEnvImpl({"HEADRACE_DATABASE_URL": "postgresql://user:password@db/queue"})
    for name in ("HEADRACE_DATABASE_URL", "DATABASE_URL"):
        with pytest.raises(SecretNotFound):
            await store.get(f"env:{name}")


async def test_the_process_variables_are_read_when_none_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_SECRET_SIGNING", "value")
    assert (await SecretsEnvImpl().get("env:SIGNING")).get_secret_value() == "value"
