"""A generated worker's tests pass as they are, and fail once its handler does less than it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.new_worker.cli import new_worker

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

FOLDER = Path("workers/probe-of-handlers")
HANDLER = FOLDER / "src/headrace/workers/probe_of_handlers/handler.py"
PAYLOAD = "        payload = payload_of(ProbeHandlersPayload, item)\n"
BODY = (
    PAYLOAD
    + """\
        receipt = _receipt_of(item)
        await self._audit.append(ctx, receipt)
        return {"receipt_id": str(receipt.id), "payload": payload.model_dump(mode="json")}
"""
)

LESS = {
    "nothing": (BODY, "        return {}\n"),
    "a receipt for each run": ("AuditEntry(id=item.id, ", "AuditEntry("),
    "no check of the payload": (PAYLOAD, "        payload = ProbeHandlersPayload.model_construct(**item.payload)\n"),
}


def run_tests(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the worker's tests that need no server, with the packages of its own tree."""
    sources = os.pathsep.join(str(each) for each in (*root.glob("*/src"), *root.glob("workers/*/src")))
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not servers",
        "-p",
        "no:cacheprovider",
        str(FOLDER / "tests/test_handler.py"),
    ]
    environment = {**os.environ, "PYTHONPATH": sources}
    return subprocess.run(argv, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - our own interpreter


def test_a_workers_tests_fail_when_its_handler_is_emptied(repository: Path) -> None:
    arguments = ["probe-of-handlers", "PROBE_HANDLERS", "--payload", "order_id:uuid", "carrier:str"]
    assert new_worker([*arguments, "--no-verify", "--root", str(repository)]) == 0
    as_made = run_tests(repository)
    assert as_made.returncode == 0, as_made.stdout
    handler = (repository / HANDLER).read_text()
    for what, (before, after) in LESS.items():
        assert handler.count(before) == 1, what
        (repository / HANDLER).write_text(handler.replace(before, after))
        done = run_tests(repository)
        assert done.returncode == pytest.ExitCode.TESTS_FAILED, f"{what}:\n{done.stdout}"
