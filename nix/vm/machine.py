"""What the scenario needs of the machine that it plays on: a virtual one, or processes of this one."""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

PATIENCE_SECONDS: Final = 90.0
"""After this a state that does not come is a failure; an emulated machine is slow."""

POLL_SECONDS: Final = 0.2

POSTGRES: Final = "postgres"
REDIS: Final = "redis"
RECEIVER: Final = "receiver"


class ScenarioError(AssertionError):
    """The machine did not do what the scenario expects."""


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended.

    Attributes:
        exit_code: 0 when it succeeded.
        output: What it wrote on standard output; what went wrong where it failed.
    """

    exit_code: int
    output: str

    def document(self) -> dict[str, Any]:
        """Return the JSON document that the command wrote.

        Raises:
            ScenarioError: The command failed, or wrote something else.
        """
        if self.exit_code != 0:
            raise ScenarioError(f"a command ended with {self.exit_code}: {self.output}")
        document: dict[str, Any] = json.loads(self.output)
        return document


@dataclass(frozen=True, slots=True)
class Answer:
    """What a port answered over HTTP."""

    status: int
    body: str


class MachineInterface(ABC):
    """Servers, an HTTP receiver and workers by name, with what an operator may do to them.

    The names: `POSTGRES`, `REDIS`, `RECEIVER`, and the workers of `workers.json`. Calls are synchronous and bounded;
    one that the machine cannot fulfil raises ScenarioError.
    """

    @abstractmethod
    def start(self, unit: str) -> None:
        """Start a unit and return once it is ready to work; does nothing when it runs already."""
        ...

    @abstractmethod
    def stop(self, unit: str) -> int:
        """Ask a unit to end and wait for it; does nothing when it does not run.

        Returns:
            The exit code of its main process; 0 when it did not run.

        Raises:
            ScenarioError: It outlasted the time that a platform waits, and was or must be killed.
        """
        ...

    @abstractmethod
    def kill(self, unit: str) -> None:
        """End a unit at once, as a crash does, and leave it down."""
        ...

    @abstractmethod
    def is_running(self, unit: str) -> bool:
        """Tell whether a unit's main process runs."""
        ...

    @abstractmethod
    def headrace(self, *arguments: str, api_key: str | None = None) -> Completed:
        """Run the operators' command line with the machine's settings.

        Args:
            arguments: What follows `headrace`.
            api_key: Who asks.
        """
        ...

    @abstractmethod
    def probe(self, worker: str) -> Completed:
        """Run a worker's own `healthcheck` subcommand with that worker's settings."""
        ...

    @abstractmethod
    def query(self, statement: str, *, org_id: str | None = None) -> Completed:
        """Run one SQL statement under the runtime login, in a session of its own.

        Args:
            statement: One that returns a single column, or none.
            org_id: The tenant that the session names; None names none.

        Returns:
            The rows, one a line; an exit code other than 0 when the statement was refused.
        """
        ...

    @abstractmethod
    def http(self, unit: str, method: str, path: str) -> Answer | None:
        """Ask the port of a worker or of the receiver; None where nothing answers."""
        ...

    @abstractmethod
    def url(self, unit: str) -> str:
        """Return where a worker or the receiver listens, as `http://127.0.0.1:PORT`."""
        ...

    @abstractmethod
    def log(self, unit: str) -> str:
        """Return the last lines that a unit wrote, for the report of a failure."""
        ...


def until(condition: Callable[[], bool], what: str, *, within: float = PATIENCE_SECONDS) -> None:
    """Wait for a state.

    Args:
        condition: Whether it is there; asked at least once.
        what: The state, for the failure's sentence.
        within: Seconds.

    Raises:
        ScenarioError: It did not come in time.
    """
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            raise ScenarioError(f"within {within:g} s it did not come to this: {what}")
        time.sleep(POLL_SECONDS)


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as the assertion that it is
    """Return when what is expected holds.

    Raises:
        ScenarioError: It does not.
    """
    if not holds:
        raise ScenarioError(f"expected {what}")
