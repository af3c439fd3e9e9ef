import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no settings file of whoever runs the tests."""
    for name in [name for name in os.environ if name.upper().startswith("HEADRACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
