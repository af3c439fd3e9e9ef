"""A worker as the generator makes it, in a copy of this repository: through its gate, over servers, and out again."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from headrace.tools.dev import LoginUrls, RedisServer
from headrace.tools.dev.ports import free_port
from headrace.tools.dev.waiting import holds_within
from headrace.tools.new_worker.debris import is_debris

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(600)]

ROOT: Final = Path(__file__).parents[2]
LEFT_OUT: Final = frozenset({".git", ".venv", ".headrace", ".env"})
WORKER: Final = "sample-notifier"
KIND: Final = "NOTIFY_SAMPLE"
FIELDS: Final = ("order_id:uuid", "carrier:str", "weight:decimal", "'note:str?'")
PAYLOAD: Final = {"order_id": "0192f0c1-6a00-7000-8000-000000000001", "carrier": "post", "weight": "1.25"}
READY: Final = timedelta(seconds=60)
# The gate's own tests are those that look at workers; all others have just run in this very tree.
TESTS: Final = (
    f"workers/{WORKER}",
    "tests/workers",
    "om/tests/unit/test_payload_notify_sample.py",
    "om/tests/unit/test_work_payload_models.py",
    "tools/tests/workers",
    "tools/tests/env_example",
    "tools/tests/terraform_inputs",
    "tests/deployment/test_compose_files.py",
    "tests/deployment/test_dockerfiles.py",
)


def run(tree: Path, *argv: str, **more: str) -> str:
    """Run a command in a tree to its good end; return what it said."""
    done = subprocess.run(  # noqa: S603 - the tree's own tools
        argv, cwd=tree, env={**environment(), **more}, capture_output=True, text=True, check=False, timeout=550
    )
    assert done.returncode == 0, f"{argv} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-6000:]}"
    return done.stdout


def environment() -> dict[str, str]:
    """Return this process's environment without what a make or a pytest around it has put there."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST_"))}


def _left_out(folder: str, names: list[str]) -> set[str]:
    at_the_top = LEFT_OUT if Path(folder) == ROOT else frozenset()
    return {name for name in names if name in at_the_top or is_debris(name)}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A committed copy of this repository with the worker in it; the gate has passed."""
    copy = Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("generator") / "tree", ignore=_left_out, symlinks=True))
    shutil.copytree(ROOT / ".headrace/bin", copy / ".headrace/bin", symlinks=True)
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@localhost", "-c", f"core.hooksPath={os.devnull}")
    run(copy, "git", "init", "--quiet")
    run(copy, "git", "add", "--all")
    run(copy, "git", *identity, "commit", "--quiet", "--message", "Begin")
    options = f"{WORKER} {KIND} --lane bulk --container --payload {' '.join(FIELDS)}"
    run(copy, "make", "new-worker", f"ARGS={options}", PYTEST_ADDOPTS=" ".join(TESTS))
    yield copy
    shutil.rmtree(copy / ".venv")


@contextmanager
def running(tree: Path, settings: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the worker by the console; it is killed at the end when it has not ended by then."""
    argv = [str(tree / ".venv/bin/headrace"), "worker", "run", WORKER]
    with subprocess.Popen(argv, cwd=tree, env={**environment(), **settings}) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def settings(module_login_urls: LoginUrls, redis_server: RedisServer) -> dict[str, str]:
    """What every process of the platform is told here."""
    return {
        **module_login_urls.environment(),
        "HEADRACE_REDIS_URL": redis_server.url,
        "HEADRACE_CACHE_BACKEND": "redis",
        "HEADRACE_TOPICS_BACKEND": "redis",
        "HEADRACE_METRICS_PORT": str(free_port()),
    }


def ask(tree: Path, settings: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(tree, ".venv/bin/headrace", *arguments, "--json", **settings))
    return document


def test_an_item_is_done_by_the_worker_that_runs(tree: Path, settings: dict[str, str]) -> None:
    settings["HEADRACE_API_KEY"] = ask(tree, settings, "seed")["token"]
    with running(tree, settings) as process:
        enqueue = ("work", "enqueue", KIND, "--lane", "bulk", "--payload", json.dumps(PAYLOAD))
        item_id = ask(tree, settings, *enqueue)["item"]["id"]
        assert holds_within(lambda: ask(tree, settings, "work", "show", item_id)["item"]["status"] == "done", READY)
        assert WORKER in json.dumps(ask(tree, settings, "status"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=READY.total_seconds()) == 0


def test_its_tests_over_postgres_pass(tree: Path) -> None:
    run(tree, ".venv/bin/pytest", "-q", "-m", "servers", f"workers/{WORKER}")


def test_the_tree_is_the_first_again_when_the_worker_is_removed(tree: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tree, tmp_path / "tree", symlinks=True, ignore=shutil.ignore_patterns(".venv")))
    remove = (str(tree / ".venv/bin/remove-worker"), WORKER, "--no-verify")
    run(copy, *remove)
    assert run(copy, "git", "status", "--porcelain") == ""
