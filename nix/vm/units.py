"""The scenario's machine as systemd units, reached by a root shell: for the NixOS test driver."""

import shlex
from collections.abc import Callable, Mapping
from typing import Final, override

from .machine import POSTGRES, RECEIVER, REDIS, Answer, Completed, MachineInterface, ScenarioError, until
from .site import SETUP

UNITS: Final[Mapping[str, str]] = {
    POSTGRES: "postgresql.service",
    REDIS: "redis-headrace.service",
    RECEIVER: "receiver.service",
    **{worker: f"headrace-{worker}.service" for worker in SETUP["workers"]},
}
POSTGRES_READY: Final = "postgresql.target"
DATABASE: Final = "headrace"
RUNTIME_LOGIN: Final = "headrace_runtime"
HTTP_TIMEOUT_SECONDS: Final = 10
NUM_LOG_LINES: Final = 60


class UnitMachine(MachineInterface):
    """Units of a machine.

    Args:
        execute: Runs a line of bash as root; returns its exit code and what it wrote on standard output. The test
            driver's `Machine.execute` is one.
    """

    def __init__(self, execute: Callable[[str], tuple[int, str]]) -> None:
        self._execute = execute

    @override
    def start(self, unit: str) -> None:
        # One that failed a while ago would be refused for having failed too often.
        self._execute(f"systemctl reset-failed {UNITS[unit]}")
        self._succeed(f"systemctl start {POSTGRES_READY if unit == POSTGRES else UNITS[unit]}")
        if unit == RECEIVER:
            until(lambda: self.http(unit, "GET", "/control/posts") is not None, "the receiver answers")

    @override
    def stop(self, unit: str) -> int:
        if not self.is_running(unit):
            return 0
        self._succeed(f"systemctl stop {UNITS[unit]}")
        result = self._property(unit, "Result")
        if result in {"timeout", "signal"}:
            raise ScenarioError(f"{unit} was killed when it was stopped ({result}): {self.log(unit)}")
        return int(self._property(unit, "ExecMainStatus"))

    @override
    def kill(self, unit: str) -> None:
        # Stopped at once, or systemd starts it again.
        self._succeed(f"systemctl kill --signal=SIGKILL {UNITS[unit]}; systemctl stop {UNITS[unit]}")

    @override
    def is_running(self, unit: str) -> bool:
        return self._property(unit, "ActiveState") in {"active", "reloading", "deactivating"}

    @override
    def headrace(self, *arguments: str, api_key: str | None = None) -> Completed:
        key = "" if api_key is None else f"HEADRACE_API_KEY={shlex.quote(api_key)} "
        return self._told(f"{key}headrace {shlex.join(arguments)}")

    @override
    def probe(self, worker: str) -> Completed:
        # The unit of the health timer is the probe with the worker's settings.
        return Completed(self._execute(f"systemctl start headrace-{worker}-health.service")[0], self.log(worker))

    @override
    def query(self, statement: str, *, org_id: str | None = None) -> Completed:
        options = "" if org_id is None else f"PGOPTIONS={shlex.quote(f'-c app.org_id={org_id}')} "
        password = f"PGPASSWORD={shlex.quote(SETUP['passwords']['runtime'])} "
        psql = f"psql --no-psqlrc --quiet --tuples-only --no-align --host=127.0.0.1 --username={RUNTIME_LOGIN}"
        return self._told(f"{options}{password}{psql} --dbname={DATABASE} --command={shlex.quote(statement)}")

    @override
    def http(self, unit: str, method: str, path: str) -> Answer | None:
        curl = f"curl --silent --max-time {HTTP_TIMEOUT_SECONDS} --request {method} --write-out '\\n%{{http_code}}'"
        code, output = self._execute(f"{curl} {shlex.quote(self.url(unit) + path)}")
        body, _, status = output.rstrip("\n").rpartition("\n")
        return Answer(int(status), body) if code == 0 else None

    @override
    def url(self, unit: str) -> str:
        port = SETUP["receiver_port"] if unit == RECEIVER else SETUP["workers"][unit]["port"]
        return f"http://127.0.0.1:{port}"

    @override
    def log(self, unit: str) -> str:
        return self._execute(f"journalctl --no-pager --lines={NUM_LOG_LINES} --unit={UNITS[unit]}")[1]

    def _property(self, unit: str, name: str) -> str:
        return self._succeed(f"systemctl show --property={name} --value {UNITS[unit]}").strip()

    def _succeed(self, command: str) -> str:
        code, output = self._execute(command)
        if code != 0:
            raise ScenarioError(f"{command} ended with {code}: {output}")
        return output

    def _told(self, command: str) -> Completed:
        """Run a command whose complaint matters: its standard error follows its output when it fails."""
        code, output = self._execute(
            f"complaint=$(mktemp); if {command} 2>$complaint; then :; else code=$?; cat $complaint; exit $code; fi"
        )
        return Completed(code, output)
