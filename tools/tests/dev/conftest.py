import subprocess
import sys
from collections.abc import Iterator

import pytest

from headrace.tools.dev.ports import free_port
from headrace.tools.dev.processes import ProcessMark


@pytest.fixture
def bystander() -> Iterator[ProcessMark]:
    """A living process that has nothing to do with any server; it ends itself when the test closes its input."""
    argv = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as process:  # noqa: S603 - fixed argv, no shell
        mark = ProcessMark.of(process.pid)
        assert mark is not None
        yield mark


@pytest.fixture
def unused_port() -> int:
    """A port that nothing listens on."""
    return free_port()
