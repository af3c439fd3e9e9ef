import os
from pathlib import Path

import pytest

from workers.console.tests.command_line import CommandLine


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, files or terminal of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [*filter(lambda name: name.startswith("HEADRACE_"), os.environ), "COLUMNS", "FORCE_COLOR", "NO_COLOR"]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    """The command line over memory; nobody is signed in."""
    return CommandLine(tmp_path)


@pytest.fixture
def signed_in(line: CommandLine) -> CommandLine:
    """The command line over memory, signed in as an owner."""
    line.sign_in()
    return line
