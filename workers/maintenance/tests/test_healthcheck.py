import subprocess
import sys

HEAVY = ("sqlalchemy", "asyncpg", "fastapi", "uvicorn", "redis", "alembic")
"""What a probe, which runs every few seconds beside the worker, must not pay for."""


def test_the_probe_loads_neither_a_driver_nor_a_server() -> None:
    script = f"import sys, headrace.workers.maintenance.main; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=50)  # noqa: S603 - our own interpreter and script
    assert done.stdout.strip() == "[]"
