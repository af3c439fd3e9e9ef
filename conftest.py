"""Fixtures that every package's tests may use."""

pytest_plugins = [
    "tests.fixtures.servers",
    "tests.fixtures.database",
    "tests.fixtures.pooler",
    "tests.fixtures.workers",
]
