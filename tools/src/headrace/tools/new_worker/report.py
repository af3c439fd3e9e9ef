"""What the developer reads of a run: lines as it goes, or one JSON object at its end."""

import json
import sys
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final

from headrace.tools.new_worker.diff import patch_of, patch_of_file
from headrace.tools.new_worker.plan import Plan, PlannedFile
from headrace.tools.new_worker.steps import StepOutcome

_MAX_SHOWN: Final = 100
"""Characters of a command; programs get all of it."""


class ExitCode(IntEnum):
    """How a run ends; 1 is left to what is no answer of this program, a crash of the interpreter for one."""

    DONE = 0
    """Done and verified, or nothing to do."""
    REFUSED = 2
    """The command line, a name or the tree forbids it; nothing was written."""
    UNVERIFIED = 3
    """The change is in the tree and a check of it failed."""
    ROLLED_BACK = 4
    """It failed on the way; the tree is as before."""


class Report:
    """Tells one run.

    Args:
        as_json: Whether standard output gets one JSON object at the end; the lines are left out then.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._data: dict[str, Any] = {"files": [], "steps": [], "next": []}

    def recovered(self) -> None:
        """Tell that an earlier run was taken back."""
        self._say("An earlier run was cut off; what it had done has been taken back.")
        self._data["recovered"] = True

    def request(self, facts: Mapping[str, object]) -> None:
        """Tell what is asked for."""
        self._data["request"] = dict(facts)

    def plan(self, plan: Plan, *, with_patch: bool) -> None:
        """Tell what is to become of each file.

        Args:
            plan: The plan.
            with_patch: Whether the new texts are shown too.
        """
        for file in plan.files:
            self._data["files"].append(_file_data(file, with_patch=with_patch))
            self._say(f"{file.state:<9} {file.path}")
        for file in plan.conflicts:
            self._complain(file.help)
        if with_patch and (patch := patch_of(plan)):
            self._say(f"\n{patch}", end="")

    def step(self, outcome: StepOutcome) -> None:
        """Tell how a command ended."""
        self._data["steps"].append(
            {
                "name": outcome.step.name,
                "command": outcome.step.command,
                "outcome": "ok" if outcome.is_ok else "failed",
                "output": outcome.output,
            }
        )
        self._say(f"{'ok' if outcome.is_ok else 'FAILED':<9} {outcome.step.name}: {_shortened(outcome.step.command)}")
        if not outcome.is_ok and outcome.output:
            self._complain(outcome.output)

    def advise(self, lines: Iterable[str]) -> None:
        """Tell what the developer does next."""
        lines = list(lines)
        self._data["next"] += lines
        for line in ("", "Next:", *(f"  {line}" for line in lines)) if lines else ():
            self._say(line)

    def end(self, code: ExitCode, sentence: str) -> ExitCode:
        """Tell how it ended, and return the code."""
        if self._as_json:
            data = {"exit_code": int(code), "outcome": code.name.lower(), "message": sentence, **self._data}
            sys.stdout.write(json.dumps(data, indent=2) + "\n")
        elif code is ExitCode.DONE:
            self._say(sentence)
        else:
            self._complain(sentence)
        return code

    def _say(self, line: str, end: str = "\n") -> None:
        if not self._as_json:
            sys.stdout.write(f"{line}{end}")
            sys.stdout.flush()

    def _complain(self, line: str) -> None:
        if not self._as_json:
            sys.stdout.flush()
            sys.stderr.write(f"{line}\n")


def _shortened(command: str) -> str:
    """Return a command that may name many files in one line."""
    return command if len(command) <= _MAX_SHOWN else f"{command[:_MAX_SHOWN]}..."


def _file_data(file: PlannedFile, *, with_patch: bool) -> dict[str, str]:
    data = {"path": str(file.path), "state": str(file.state)}
    if file.help:
        data["help"] = file.help
    if with_patch and not file.help and (patch := patch_of_file(file)):
        data["patch"] = patch
    return data
