"""Several stores behind one interface: the contract, and which store is asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.infra.secrets.impl.by_scheme import SecretsBySchemeImpl
from headrace.infra.secrets.impl.env import DEFAULT_PREFIX, SecretsEnvImpl
from headrace.infra.secrets.impl.file import SecretsFileImpl
from infra.tests.contracts.secrets import SecretsContract


class TestSecretsByScheme(SecretsContract):
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {}

    @pytest.fixture
    def store(self, environ: dict[str, str], tmp_path: Path) -> SecretsBySchemeImpl:
        return SecretsBySchemeImpl({"env": SecretsEnvImpl(environ), "file": SecretsFileImpl(tmp_path)})

    @pytest.fixture(params=["env", "file"])
    def scheme(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def plant(self, environ: dict[str, str], tmp_path: Path, scheme: str) -> Callable[[str, str], None]:
        def plant(name: str, value: str) -> None:
            if scheme == "env":
                environ[DEFAULT_PREFIX + name] = value
            else:
                (tmp_path / name).write_text(value)

        return plant
