"""The platform on local servers: settings for its processes, schemas, a seeded org, and what other terminals read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from headrace.om.context import OpContext
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.session import Ground
from headrace.tools.dev.state import workspace_root
from headrace.tools.dev.supervisor import Places, Program
from headrace.workers.console.actions.seeding import SeedPlan, seed
from headrace.workers.console.actions.session import new_request
from headrace.workers.console.container import ConsoleContainer, build
from headrace.workers.console.local_env import read_variables, set_variables
from headrace.workers.console.settings import LOCAL_ENV_FILE, ConsoleSettings
from headrace.workers.console.worker_programs import WorkerProgram, installed_workers

FIRST: Final = "maintenance"
"""The worker that starts first and stops last: its sweep hands back what the others leave."""

API_KEY_VARIABLE: Final = "HEADRACE_API_KEY"
SEED: Final = SeedPlan(org_name="local", login_name="local-owner")

# A local run is to be over soon: short waits, and a receiver on the loopback interface. The environment outranks these.
QUICK: Final[Mapping[str, str]] = {
    "HEADRACE_DRAIN_BUDGET": "5s",
    "HEADRACE_HEARTBEAT_INTERVAL": "5s",
    "HEADRACE_HEARTBEAT_TTL": "30s",
    "HEADRACE_WEBHOOK_DISPATCHER_ALLOW_PRIVATE_ADDRESSES": "true",
    "HEADRACE_WEBHOOK_DISPATCHER_POST_CONNECT_TIMEOUT": "2s",
    "HEADRACE_WEBHOOK_DISPATCHER_POST_READ_TIMEOUT": "2s",
    "HEADRACE_WEBHOOK_DISPATCHER_POST_TOTAL_TIMEOUT": "4s",
    "HEADRACE_WEBHOOK_DISPATCHER_RETRY_BASE": "500ms",
}


@dataclass(frozen=True, slots=True)
class LocalStack:
    """The platform's local installation of one working tree.

    Attributes:
        state: The state folder `.headrace`.
        ready: Servers and logins.
        environment: The variables of the command itself.
    """

    state: Path
    ready: Ground
    environment: Mapping[str, str]

    @property
    def env_file(self) -> Path:
        """What other terminals read."""
        return self.state / LOCAL_ENV_FILE.name

    @property
    def places(self) -> Places:
        """Where logs and pid files of processes go."""
        return places_of(self.state)

    def settings(self) -> dict[str, str]:
        """Returns the variables that every process of this installation needs; they hold passwords."""
        redis_url = self.ready.servers.redis_url
        tuned = {name: self.environment.get(name) or value for name, value in QUICK.items()}
        return {
            **tuned,
            **self.ready.environment(),
            "HEADRACE_ENVIRONMENT": "local",
            "HEADRACE_REDIS_URL": redis_url or "",
            "HEADRACE_CACHE_BACKEND": "memory" if redis_url is None else "redis",
            "HEADRACE_TOPICS_BACKEND": "postgres",
            "HEADRACE_SECRETS_BACKEND": "file",
            "HEADRACE_SECRETS_DIR": str(self.state / "secrets"),
        }

    def console(self) -> ConsoleContainer:
        """Returns the console's parts over this installation; opens nothing."""
        # Given as arguments, they outrank whatever the shell or a file says of another installation.
        fields = {name.removeprefix("HEADRACE_").lower(): value or None for name, value in self.settings().items()}
        return build(ConsoleSettings.model_validate(fields))

    def programs(self) -> tuple[Program, ...]:
        """Returns the workers to keep running, in the order of starting: every one that is installed.

        Raises:
            DevServerError: The first one is not installed, or the port of one in the environment is no port.
        """
        found = installed_workers()
        if FIRST not in found:
            raise DevServerError(f"The worker {FIRST} is not installed; run `make setup`.")
        return tuple(self._program(found[name]) for name in sorted(found, key=lambda name: (name != FIRST, name)))

    def _program(self, worker: WorkerProgram) -> Program:
        variable = f"HEADRACE_{worker.name.replace('-', '_').upper()}_METRICS_PORT"
        return Program(
            name=worker.name,
            argv=worker.argv(),
            environment={**self.environment, **self.settings()},
            port_variable=variable,
            port=_port(variable, self.environment.get(variable)),
            folder=workspace_root(),
        )


def places_of(state: Path) -> Places:
    """Returns where logs and pid files of processes go, below the state folder."""
    return Places(logs=state / "logs", pids=state / "workers")


async def migrated(console: ConsoleContainer) -> str:
    """Bring the schemas up to date; return what they are at, in a line."""
    reached = await migrate(database_options(console.settings))
    return ", ".join(f"{role} {revision}" for role, revision in reached.items())


async def signed_in(console: ConsoleContainer, stack: LocalStack) -> OpContext:
    """Seed the org and its key, write what other terminals read, and sign in; the console must be open."""
    known = read_variables(stack.env_file).get(API_KEY_VARIABLE)
    rctx, tenancy = new_request(console.settings), console.managers.tenancy
    seeded = await seed(tenancy, rctx, SEED, SecretStr(known) if known else None)
    set_variables(stack.env_file, {**stack.settings(), API_KEY_VARIABLE: seeded.token.get_secret_value()})
    return await tenancy.authenticate(rctx, seeded.token)


def shown_path(path: Path) -> str:
    """Returns a path as short as it can be from where the person stands."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _port(variable: str, text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):  # noqa: PLR2004 - the highest port
        raise DevServerError(f"{variable} is {text!r}; expected a port, 0 to 65535.")
    return int(text) or None
