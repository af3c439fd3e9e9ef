"""What the virtual machine's driver would run, run by bash here with stand-ins for the programs that only it has."""

import os
import subprocess
from pathlib import Path

import pytest

from nix.vm.machine import POSTGRES, RECEIVER, Answer, Completed, ScenarioError
from nix.vm.units import UnitMachine

WORKER = "dispatcher-a"
UNIT = "headrace-dispatcher-a.service"

SYSTEMCTL = """
echo "systemctl $*" >> log
case "$*" in
    show*) name="$(cut -d= -f2 <<<"$2")"; cat "state/$4.$name" 2>/dev/null || echo ;;
    "start "*-health.service) [ ! -e state/unwell ] ;;
esac
"""
HEADRACE = """
if [ "$1" = fail ]; then echo "it is away" >&2; exit 3; fi
printf '%s|' "${HEADRACE_API_KEY:-none}" "$@"
"""
PSQL = """
if [ -e state/refuses ]; then echo "ERROR: permission denied" >&2; exit 1; fi
printf '%s|' "$PGPASSWORD" "${PGOPTIONS:-none}"
echo "${@: -1}"
"""
CURL = """
[ ! -e state/silent ] || exit 7
printf '%s %s\\n200' "$5" "${@: -1}"
"""
JOURNALCTL = 'echo "what ${@: -1} wrote"'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the stand-ins, in which commands run."""
    (tmp_path / "state").mkdir()
    programs = {"systemctl": SYSTEMCTL, "headrace": HEADRACE, "psql": PSQL, "curl": CURL, "journalctl": JOURNALCTL}
    for name, script in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/usr/bin/env bash\n{script}", encoding="utf-8")
        program.chmod(0o755)
    return tmp_path


@pytest.fixture
def machine(place: Path) -> UnitMachine:
    """The machine, whose commands are run as the test driver runs them."""

    def execute(command: str) -> tuple[int, str]:
        done = subprocess.run(  # noqa: S603 - what the driver would run
            ["bash", "-c", f"set -euo pipefail; {command}"],  # noqa: S607 - whichever bash there is
            cwd=place,
            env={"PATH": f"{place / 'bin'}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=30,
        )
        return done.returncode, done.stdout

    return UnitMachine(execute)


def told(place: Path) -> list[str]:
    log = place / "log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in lines if " show " not in line]


def in_state(place: Path, **properties: str) -> None:
    for name, value in properties.items():
        (place / "state" / f"{UNIT}.{name}").write_text(f"{value}\n", encoding="utf-8")


def test_a_unit_is_started_by_its_name_when_it_may_have_failed_before(machine: UnitMachine, place: Path) -> None:
    machine.start(WORKER)
    assert told(place) == [f"systemctl reset-failed {UNIT}", f"systemctl start {UNIT}"]


def test_postgres_is_awaited_with_its_logins_when_it_is_started(machine: UnitMachine, place: Path) -> None:
    machine.start(POSTGRES)
    assert told(place)[-1] == "systemctl start postgresql.target"


def test_a_stopped_unit_tells_its_exit_code_when_it_ended_by_itself(machine: UnitMachine, place: Path) -> None:
    in_state(place, ActiveState="active", Result="success", ExecMainStatus="0")
    assert machine.stop(WORKER) == 0
    assert told(place) == [f"systemctl stop {UNIT}"]


def test_a_stop_is_refused_when_the_unit_had_to_be_killed(machine: UnitMachine, place: Path) -> None:
    in_state(place, ActiveState="active", Result="timeout", ExecMainStatus="9")
    with pytest.raises(ScenarioError, match=f"was killed when it was stopped .*what --unit={UNIT} wrote"):
        machine.stop(WORKER)


def test_nothing_is_stopped_when_the_unit_does_not_run(machine: UnitMachine, place: Path) -> None:
    in_state(place, ActiveState="inactive")
    assert machine.stop(WORKER) == 0
    assert told(place) == []


def test_a_killed_unit_stays_down_when_it_would_be_restarted(machine: UnitMachine, place: Path) -> None:
    machine.kill(WORKER)
    assert told(place) == [f"systemctl kill --signal=SIGKILL {UNIT}", f"systemctl stop {UNIT}"]


def test_the_command_line_keeps_its_words_when_they_hold_quotes(machine: UnitMachine) -> None:
    done = machine.headrace("work", "enqueue", "--payload", '{"note": "it\'s"}', api_key="a key")
    assert done == Completed(0, 'a key|work|enqueue|--payload|{"note": "it\'s"}|')


def test_the_complaint_is_told_when_the_command_line_fails(machine: UnitMachine) -> None:
    assert machine.headrace("fail") == Completed(3, "it is away\n")


def test_a_statement_names_its_tenant_when_one_is_given(machine: UnitMachine) -> None:
    assert machine.query("SELECT 'a'", org_id="b").output == "scenario-runtime|-c app.org_id=b|--command=SELECT 'a'\n"
    assert machine.query("SELECT 1").output == "scenario-runtime|none|--command=SELECT 1\n"


def test_a_refused_statement_is_told_when_the_login_may_not(machine: UnitMachine, place: Path) -> None:
    (place / "state" / "refuses").touch()
    assert machine.query("SELECT 1") == Completed(1, "ERROR: permission denied\n")


def test_a_port_is_asked_when_it_answers_and_when_it_does_not(machine: UnitMachine, place: Path) -> None:
    answer = machine.http(RECEIVER, "PUT", "/control/open")
    assert answer == Answer(200, "PUT http://127.0.0.1:8090/control/open")
    (place / "state" / "silent").touch()
    assert machine.http(WORKER, "GET", "/healthz") is None


def test_the_health_unit_is_the_probe_when_a_worker_is_probed(machine: UnitMachine, place: Path) -> None:
    assert machine.probe(WORKER).exit_code == 0
    (place / "state" / "unwell").touch()
    assert machine.probe(WORKER).exit_code == 1
    assert told(place)[-1] == "systemctl start headrace-dispatcher-a-health.service"
