"""A program `docker` for tests of the arguments that it is given: it notes each call and answers as it is told.

What a test proves with it is the argument contract, not a working engine.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = """\
#!{python}
import json, os, sys
folder, arguments = {folder!r}, sys.argv[1:]
with open(folder + "/answers.json") as file:
    answers = json.load(file)
noted = {{name: value for name, value in os.environ.items() if name.startswith("HEADRACE_")}}
with open(folder + "/calls.jsonl", "a") as file:
    file.write(json.dumps([arguments, noted]) + "\\n")
line = " ".join(arguments)
for part, (code, out, err) in answers.items():
    if part in line:
        sys.stdout.write(out)
        sys.stderr.write(err)
        sys.exit(code)
"""


@dataclass(frozen=True)
class StandInDocker:
    """The program, its answers and what it was called with.

    Attributes:
        folder: Where it is; goes onto PATH.
        answers: Part of a command line to exit code, standard output and standard error; the first that fits.
    """

    folder: Path
    answers: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def install(self) -> None:
        """Write the program."""
        program = self.folder / "docker"
        program.write_text(PROGRAM.format(python=sys.executable, folder=str(self.folder)), encoding="utf-8")
        program.chmod(0o755)
        self.answer({})

    def answer(self, answers: Mapping[str, tuple[int, str, str]]) -> None:
        """Let these answers go before the ones there are; calls that no answer fits succeed and say nothing."""
        self.answers.update(answers)
        (self.folder / "answers.json").write_text(json.dumps(self.answers), encoding="utf-8")

    @property
    def calls(self) -> list[tuple[list[str], dict[str, str]]]:
        """Every call's arguments and our variables of its environment, in order."""
        file = self.folder / "calls.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [(arguments, variables) for arguments, variables in map(json.loads, lines)]

    def called(self, subcommand: str) -> list[Sequence[str]]:
        """Return what followed a subcommand of compose, for each of its calls."""
        found = (arguments for arguments, _ in self.calls if subcommand in arguments)
        return [arguments[arguments.index(subcommand) + 1 :] for arguments in found]
