"""The newcomer's first command, as a process, over real servers."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from headrace.tools.dev import PostgresServer, RedisServer
from headrace.tools.dev.local_stack import places_of
from headrace.tools.dev.processes import PidRecord, ProcessMark
from headrace.tools.dev.supervisor import end_stale
from headrace.tools.dev.waiting import holds_within
from headrace.workers.console.worker_programs import installed_workers
from tests.fixtures.servers import NewServerFolder

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(240)]

EXAMPLES = Path(__file__).parents[2] / "examples" / "webhooks"
PATIENCE = timedelta(seconds=100)
# One for each route but the one that never answers, which takes its time.
QUICK_SAMPLES = ("01-order", "04-shipment", "10-note", "11-payment", "21-file")


def environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADRACE_")}
    return {**kept, "PYTHONUNBUFFERED": "1", **more}


class Run:
    """A run of the command in a working tree of its own.

    Args:
        tree: The folder that it stands in.
        args: Its options.
        variables: Settings for it.
    """

    def __init__(self, tree: Path, *args: str, variables: Mapping[str, str]) -> None:
        self.tree = tree
        self._log = tree / f"run-{os.urandom(4).hex()}.log"
        argv = [sys.executable, "-m", "headrace.tools.dev", "run", *args]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                argv, cwd=tree, env=environment(variables), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    @property
    def output(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def wait(self) -> int:
        return self.process.wait(timeout=200)

    def says(self, text: str) -> bool:
        return text in self.output

    def waited_for(self, text: str) -> None:
        assert holds_within(lambda: self.says(text) or self.process.poll() is not None, PATIENCE), self.output
        assert self.says(text), self.output

    def worker(self, name: str) -> PidRecord | None:
        """What is written down of a worker's process; None where there is none now."""
        return PidRecord.read(self.tree / ".headrace" / "workers" / f"{name}.pid")

    def worker_marks(self) -> list[ProcessMark]:
        """The processes of the installed workers, which must be there."""
        records = [self.worker(name) for name in installed_workers()]
        return [record.server for record in records if record is not None]

    def headrace(self, *args: str) -> dict[str, object]:
        """The command line in another terminal of the same tree."""
        program = Path(sys.executable).parent / "headrace"
        said = subprocess.run(  # noqa: S603 - our own program
            [program, *args, "--json"], cwd=self.tree, env=environment({}), capture_output=True, check=False, timeout=60
        )
        assert said.returncode == 0, said.stdout + said.stderr
        document: dict[str, object] = json.loads(said.stdout)
        return document


type Start = Callable[..., Run]


@pytest.fixture
def tree(new_server_folder: NewServerFolder) -> Path:
    """A working tree that is not the developer's own."""
    folder = new_server_folder("main-job")
    (folder / "pyproject.toml").write_text("[tool.uv.workspace]\n", encoding="ascii")
    return folder


@pytest.fixture
def start(tree: Path) -> Iterator[Start]:
    """Starts runs in the tree; one that still runs after the test is ended with its workers and servers."""
    started: list[Run] = []

    def begin(*args: str, **variables: str) -> Run:
        started.append(Run(tree, *args, variables=variables))
        return started[-1]

    yield begin
    for run in started:
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGINT)
            run.wait()
    end_stale(places_of(tree / ".headrace"))


@pytest.fixture
def given_servers(postgres_server: PostgresServer, redis_server: RedisServer) -> dict[str, str]:
    """Servers that the environment names, with a database of this test's own."""
    name = f"main_job_{os.urandom(6).hex()}"
    return {"HEADRACE_DATABASE_URL": postgres_server.create_database(name), "HEADRACE_REDIS_URL": redis_server.url}


@pytest.fixture
def quick_samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    folder.mkdir()
    for sample in EXAMPLES.glob("*.json"):
        if sample.name.startswith(QUICK_SAMPLES):
            shutil.copy(sample, folder)
    return folder


def test_every_sample_reaches_its_right_end_state(start: Start, tree: Path) -> None:
    run = start("--once", "--samples", str(EXAMPLES))
    assert run.wait() == 0, run.output
    last = run.output.splitlines()[-1]
    assert re.match(r"All 25 messages reached their right end states in .*: 37 posts, 37 signatures verified", last)
    assert len(re.findall(r": right$", run.output, re.MULTILINE)) == 25
    assert list((tree / ".headrace" / "workers").iterdir()) == []
    assert (tree / ".headrace" / "local.env").stat().st_mode & 0o777 == 0o600


def test_what_ends_otherwise_than_it_must_is_told_in_a_table(
    start: Start, given_servers: dict[str, str], quick_samples: Path
) -> None:
    refusing = {"HEADRACE_WEBHOOK_DISPATCHER_ALLOW_PRIVATE_ADDRESSES": "false"}
    run = start("--once", "--samples", str(quick_samples), **given_servers, **refusing)
    assert run.wait() == 1, run.output
    assert re.search(r"order\.created +/ok +is failed, must be done", run.output)
    assert "the endpoint is still enabled after 410" in run.output


def test_a_run_ends_in_time_though_nothing_is_delivered(
    start: Start, given_servers: dict[str, str], quick_samples: Path
) -> None:
    elsewhere = {"HEADRACE_WEBHOOK_DISPATCHER_LANE": "elsewhere"}
    run = start("--once", "--samples", str(quick_samples), "--timeout", "25", **given_servers, **elsewhere)
    assert run.wait() == 1, run.output
    assert re.search(r"order\.created +/ok +is queued, must be done", run.output)


def test_a_run_keeps_running_survives_a_killed_worker_and_stops_on_ctrl_c(
    start: Start, given_servers: dict[str, str], quick_samples: Path
) -> None:
    run = start("--samples", str(quick_samples), **given_servers)
    run.waited_for("Everything is running")
    assert str(urlsplit(given_servers["HEADRACE_DATABASE_URL"]).password) not in run.output
    workers = run.headrace("status")["workers"]
    assert isinstance(workers, list)
    assert {worker["service"] for worker in workers} == set(installed_workers())
    before = run.worker("webhook-dispatcher")
    assert before is not None
    os.kill(before.server.pid, signal.SIGKILL)
    run.waited_for("webhook-dispatcher ended with -9; it starts again in 0.5 s")
    assert holds_within(lambda: run.worker("webhook-dispatcher") not in {None, before}, PATIENCE)
    published = run.headrace("webhooks", "publish", "--event", "order.created", "--data", "{}")
    assert published["is_new"] is True
    assert holds_within(lambda: len(_done(run)) == 4, PATIENCE), run.headrace("work", "list")
    marks = run.worker_marks()
    assert len(marks) == len(installed_workers())
    run.process.send_signal(signal.SIGINT)
    assert run.wait() == 0, run.output
    assert not any(mark.is_alive() for mark in marks)


def test_a_second_run_at_once_is_refused_and_one_on_top_of_a_killed_ones_leavings_works(
    start: Start, given_servers: dict[str, str], quick_samples: Path
) -> None:
    first = start("--samples", str(quick_samples), **given_servers)
    first.waited_for("Everything is running")
    orphans = first.worker_marks()
    second = start("--once", "--samples", str(quick_samples))
    assert second.wait() == 1
    assert f"A run of this working tree is going on already (process {first.process.pid})" in second.output
    first.process.kill()
    first.process.wait(timeout=20)
    assert all(mark.is_alive() for mark in orphans)
    third = start("--once", "--samples", str(quick_samples), **given_servers)
    assert third.wait() == 0, third.output
    assert "stopped webhook-dispatcher, which an earlier run left behind" in third.output
    assert "(from HEADRACE_DATABASE_URL)" in third.output
    assert "All 5 messages reached their right end states" in third.output
    assert not any(mark.is_alive() for mark in orphans)


def test_a_run_that_is_interrupted_before_its_end_puts_everything_away(
    start: Start, given_servers: dict[str, str]
) -> None:
    run = start("--once", "--samples", str(EXAMPLES), **given_servers)
    run.waited_for("shipment.delayed -> /flaky:")
    marks = run.worker_marks()
    assert len(marks) == len(installed_workers())
    run.process.send_signal(signal.SIGTERM)
    assert run.wait() == 130, run.output
    assert not any(mark.is_alive() for mark in marks)
    assert "Traceback" not in run.output


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"HEADRACE_DATABASE_URL": "postgresql://a:b@127.0.0.1:1/x"}, r"\(HEADRACE_DATABASE_URL\) cannot be used"),
        ({"HEADRACE_MAINTENANCE_LEASE": "1s"}, r"maintenance does not start; .*lease=1s: expected at least"),
    ],
)
def test_what_cannot_start_is_told_in_one_sentence(
    start: Start, given_servers: dict[str, str], variables: dict[str, str], sentence: str
) -> None:
    run = start("--once", "--samples", str(EXAMPLES), **(given_servers | variables))
    assert run.wait() == 1
    assert re.search(sentence, run.output.splitlines()[-1]), run.output
    assert "Traceback" not in run.output


def _done(run: Run) -> list[object]:
    items = run.headrace("work", "list", "--status", "done")["items"]
    assert isinstance(items, list)
    return items
