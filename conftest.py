"""Fixtures that every package's tests may use."""

import signal

pytest_plugins = [
    "tests.fixtures.servers",
    "tests.fixtures.database",
    "tests.fixtures.pooler",
    "tests.fixtures.workers",
]


def pytest_configure() -> None:
    """Let Ctrl-C end the run and what it starts, also where a shell in the background had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
