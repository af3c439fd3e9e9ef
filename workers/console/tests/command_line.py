"""The command line over memory, for tests: real commands, real managers, nothing outside of this process."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from typer.testing import CliRunner, Result

from headrace.infra.cache import CacheScope
from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.file import SecretsFileImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import EMPTY_UUID
from headrace.om.context import AppContext, AppType, OpContext, RequestContext, Role
from headrace.om.root import Infra, Managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.workers.console.cli.app import app
from headrace.workers.console.cli.entry import Entry
from headrace.workers.console.container import ConsoleContainer, for_tests
from headrace.workers.console.settings import ConsoleSettings


def new_rctx() -> RequestContext:
    return RequestContext(app=AppContext(type=AppType.TEST, version="tests@dev"))


@dataclass
class CommandLine:
    """Runs commands; what one of them writes, the next one finds."""

    folder: Path
    storage: StorageMemoryImpl = field(default_factory=StorageMemoryImpl)
    cache: CacheMemoryImpl = field(default_factory=CacheMemoryImpl)
    changes: dict[str, object] = field(default_factory=dict)
    executed: list[tuple[Sequence[str], Mapping[str, str]]] = field(default_factory=list)
    failure: BaseException | None = None
    """Raised instead of putting the console together."""

    def settings(self) -> ConsoleSettings:
        fields: dict[str, object] = {
            "database_url": "postgresql://127.0.0.1:1/none",
            "database_runtime_password": "unused",
            "database_system_password": "unused",
            "secrets_dir": self.folder / "secrets",
        }
        return ConsoleSettings.model_validate(fields | self.changes)

    def container(self, settings: ConsoleSettings) -> ConsoleContainer:
        if self.failure is not None:
            raise self.failure
        secrets = SecretsFileImpl(self.folder / "secrets")
        return for_tests(
            settings, self.storage, Infra.over(cache=self.cache, topics=TopicsInProcessImpl(), secrets=secrets)
        )

    def run(self, *args: str, given: str | bytes | None = None) -> Result:
        entry = Entry(self.settings, self.container, lambda argv, environ: self.executed.append((argv, environ)))
        return CliRunner().invoke(app, list(args), input=given, obj=entry)

    def json(self, *args: str, given: str | bytes | None = None) -> Any:  # noqa: ANN401 - a JSON document
        """Run a command that must succeed; return its document."""
        result = self.run(*args, "--json", given=given)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def refused(self, *args: str, exit_code: int = 1, given: str | bytes | None = None) -> str:
        """Run a command that must fail, for people and in JSON mode; return its sentence."""
        said = self.run(*args, given=given)
        assert (said.exit_code, said.stdout) == (exit_code, ""), said.output
        in_json = self.run(*args, "--json", given=given)
        assert in_json.exit_code == exit_code
        error = json.loads(in_json.stdout)["error"]
        assert error["code"]
        assert "Traceback" not in said.stderr
        return f"{error['code']}: {error['message']}"

    def sign_in(self, role: Role = Role.OWNER) -> OpContext:
        """Make an org and let later commands sign in to it by an API key of the role; return its owner's context."""

        async def seed(managers: Managers) -> tuple[OpContext, SecretStr]:
            owner = await managers.tenancy.create_org(new_rctx(), Org(name="acme"), User(name="Ada", login_name="ada"))
            _, token = await managers.tenancy.issue_api_key(owner, "tests", role)
            return owner, token

        owner, self.changes["api_key"] = self.ask(seed)
        return owner

    def ask[Answer](self, call: Callable[[Managers], Awaitable[Answer]]) -> Answer:
        """Call the managers behind the command line's back."""

        async def called() -> Answer:
            container = self.container(self.settings())
            async with container.opened():
                return await call(container.managers)

        return asyncio.run(called())

    def beat(self, worker: str, said: str) -> None:
        """Show a worker as alive to the next command, which must find a cache that others could see."""
        self.changes |= {"cache_backend": "redis", "redis_url": "redis://127.0.0.1:1/0"}

        async def put() -> None:
            await self.cache.start()
            await self.cache.put(CacheScope.WORKER_LIVENESS, EMPTY_UUID, worker, said, ttl=timedelta(minutes=1))

        asyncio.run(put())
