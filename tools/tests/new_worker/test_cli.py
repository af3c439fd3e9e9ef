"""The two commands over copies of this repository."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from headrace.tools.new_worker.cli import new_worker, remove_worker
from headrace.tools.new_worker.command import Intention, Options, Run
from headrace.tools.new_worker.manifest import WorkerArguments
from headrace.tools.new_worker.report import ExitCode, Report
from headrace.tools.new_worker.tree import Tree
from headrace.tools.new_worker.worker_plan import plan_worker
from tools.tests.new_worker.runs import Crash
from tools.tests.new_worker.trees import changes, lasting_changes, state_of, write

ROOT = Path(__file__).parents[3]
type Captured = pytest.CaptureFixture[str]

KINDS = "om/src/headrace/om/work/types/kinds.py"
SAMPLE = ("sample-notifier", "NOTIFY_SAMPLE")
HANDLER = "workers/sample-notifier/src/headrace/workers/sample_notifier/handler.py"
PAYLOAD = ("--payload", "order_id:uuid", "carrier:str", "weight:decimal", "note:str?")


def make(root: Path, *arguments: str) -> int:
    return new_worker([*arguments, "--no-verify", "--root", str(root)])


def remove(root: Path, *arguments: str) -> int:
    return remove_worker([*arguments, "--no-verify", "--root", str(root)])


def told(capsys: Captured) -> dict[str, str]:
    """Return the state of each file that the last run named."""
    report = json.loads(capsys.readouterr().out)
    return {file["path"]: file["state"] for file in report["files"]}


def test_worker_is_new_files_and_two_lists(repository: Path, capsys: Captured) -> None:
    assert make(repository, *SAMPLE, "--json") == 0
    states = told(capsys)
    assert sorted(path for path, state in states.items() if state == "update") == [
        "om/src/headrace/om/work/README.md",
        KINDS,
    ]
    assert set(states.values()) == {"create", "update"}
    assert states["workers/sample-notifier/src/headrace/workers/sample_notifier/handler.py"] == "create"
    assert states["deployment/docker/sample-notifier.Dockerfile"] == "create"


def test_nothing_is_touched_when_the_same_is_asked_for_again(repository: Path, capsys: Captured) -> None:
    make(repository, *SAMPLE, *PAYLOAD)
    before = state_of(repository)
    capsys.readouterr()
    assert make(repository, *SAMPLE, *PAYLOAD, "--json") == 0
    assert set(told(capsys).values()) == {"identical"}
    assert changes(repository, before) == []


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ((*SAMPLE, "--lane", "bulk"), "(lane was 'default' and is 'bulk')"),
        ((*SAMPLE, "--container"), "(container was False and is True)"),
        ((*SAMPLE, *PAYLOAD), "was made with other arguments (payload was ()"),
        (("sample-notifier", "NOTIFY_LATER"), "(kind was 'NOTIFY_SAMPLE' and is 'NOTIFY_LATER')"),
        (("other-notifier", "NOTIFY_SAMPLE"), "the worker sample-notifier handles it"),
        (("samplenotifier", "NOTIFY_OTHER"), "from the worker in workers/sample-notifier"),
        (("other-notifier", "NOTIFYSAMPLE"), "from the kind NOTIFY_SAMPLE"),
    ],
)
def test_nothing_is_written_when_another_worker_is_in_the_way(
    repository: Path, capsys: Captured, other: tuple[str, ...], sentence: str
) -> None:
    make(repository, *SAMPLE)
    before = state_of(repository)
    assert make(repository, *other) == ExitCode.REFUSED
    assert changes(repository, before) == []
    assert sentence in capsys.readouterr().err


def test_nothing_is_written_when_a_file_is_in_the_way(repository: Path, capsys: Captured) -> None:
    write(repository, "deployment/docker/sample-notifier.Dockerfile", "FROM scratch\n")
    before = state_of(repository)
    assert make(repository, *SAMPLE) == ExitCode.REFUSED
    assert changes(repository, before) == []
    assert "sample-notifier.Dockerfile has other content already" in capsys.readouterr().err


def test_nothing_is_written_when_a_list_has_marks_of_a_merge(repository: Path, capsys: Captured) -> None:
    kinds = repository / KINDS
    kinds.write_text(kinds.read_text() + "<<<<<<< HEAD\n")
    before = state_of(repository)
    assert make(repository, *SAMPLE) == ExitCode.REFUSED
    assert changes(repository, before) == []
    assert capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_nothing_is_written_in_a_dry_run_with_every_option(
    repository: Path, capsys: Captured, more: tuple[str, ...]
) -> None:
    before = state_of(repository)
    assert make(repository, *SAMPLE, "--lane", "bulk", "--container", "--dry-run", *more, *PAYLOAD) == 0
    assert changes(repository, before) == []
    assert not (repository / ".headrace").exists()
    out = capsys.readouterr().out
    assert "NOTIFY_SAMPLE" in out
    assert (json.loads(out)["request"]["lane"] == "bulk") if more else ("+++ b/workers/sample-notifier" in out)


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("maintenance", "OTHER", "exists in workers/maintenance"),
        ("lambda", "OTHER", "keyword of Python"),
        ("asyncio", "OTHER", "Python's own module"),
        ("x" * 41, "OTHER", "is 41 characters long"),
        ("Shipment", "OTHER", "upper-case letters"),
        ("../shipment", "OTHER", "is a path"),
        ("1st", "OTHER", "begins with a digit"),
        ("web-hook-dispatcher", "OTHER", "differs only in case"),
        ("kit", "OTHER", "is the library"),
        ("sqlalchemy", "OTHER", "has or uses one of that name"),
        ("worker-kit", "OTHER", "has or uses one of that name"),
        ("shipment", "other", "has lower-case letters"),
        ("shipment", "NOOP", "maintenance handles it"),
        ("shipment", "DELIVER_WEB_HOOK", "differs only in case"),
    ],
)
def test_wrong_name_has_its_sentence(locked: Path, capsys: Captured, name: str, kind: str, sentence: str) -> None:
    before = state_of(locked)
    assert make(locked, name, kind) == ExitCode.REFUSED
    assert changes(locked, before) == []
    assert sentence in capsys.readouterr().err


def test_order_of_two_workers_makes_no_difference(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["cp", "-R", str(repository), str(other)], check=True)  # noqa: S603, S607 - a copy
    first, second = SAMPLE, ("sample-carrier", "CARRY_SAMPLE", "--lane", "bulk", "--container", *PAYLOAD)
    assert [make(repository, *first), make(repository, *second)] == [0, 0]
    assert [make(other, *second), make(other, *first)] == [0, 0]
    assert lasting_changes(other, state_of(repository)) == []


@pytest.mark.parametrize("folder", ["", "om", "workers/kit", "om/src/headrace/om/work"])
def test_tree_is_found_from_any_folder_within(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, folder: str
) -> None:
    monkeypatch.chdir(repository / folder)
    assert new_worker([*SAMPLE, "--dry-run"]) == 0
    assert f"create    {HANDLER}" in capsys.readouterr().out


def test_tree_may_lie_behind_a_name_that_shells_and_urls_quote(repository: Path) -> None:
    odd = repository.rename(repository.with_name("a tree, 'größer' & \"#1\" %2F"))
    before = state_of(odd)
    assert make(odd, *SAMPLE, "--container") == 0
    assert remove(odd, "sample-notifier") == 0
    assert lasting_changes(odd, before) == []


def test_tree_is_unchanged_when_it_crashes_after_each_written_file(repository: Path) -> None:
    arguments = WorkerArguments(worker_name="sample-notifier", kind="NOTIFY_SAMPLE", container=True)
    planned = plan_worker(Tree.open(repository), arguments)
    before = state_of(repository)
    options = Options(root=repository, is_dry_run=False, verify=False)
    for number in range(1, len(planned.plan.changes) + 1):
        run = Run(options, Report(as_json=False), Crash(number))
        code = run.carry_out(lambda _: Intention("sample-notifier", planned.plan, ()))
        assert code is ExitCode.ROLLED_BACK
        assert changes(repository, before) == [], number


def test_missing_argument_is_a_usage_error_when_nobody_can_be_asked(repository: Path, capsys: Captured) -> None:
    assert make(repository, "sample-notifier") == ExitCode.REFUSED
    assert capsys.readouterr().err.startswith("Missing: the work kind")
    assert make(repository) == ExitCode.REFUSED
    assert capsys.readouterr().err.startswith("Missing: the worker's name")
    assert remove(repository) == ExitCode.REFUSED


def test_unknown_option_is_a_usage_error(repository: Path) -> None:
    with pytest.raises(SystemExit) as left:
        make(repository, *SAMPLE, "--lanes", "bulk")
    assert left.value.code == ExitCode.REFUSED


def test_missing_argument_is_asked_for_when_a_terminal_is_there(repository: Path) -> None:
    master, slave = pty.openpty()
    argv = [
        sys.executable,
        "-m",
        "headrace.tools.new_worker",
        "sample-notifier",
        "--dry-run",
        "--root",
        str(repository),
    ]
    with subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, close_fds=True) as process:  # noqa: S603 - ours
        os.close(slave)
        told_so_far = read_until(master, "NOTIFY_SHIPMENT): ")
        os.write(master, b"NOTIFY_SAMPLE\n")
        told_so_far += read_until(master, "nothing has been written.")
        assert process.wait(timeout=30) == 0
    os.close(master)
    assert "The work kind, upper snake case" in told_so_far


def read_until(descriptor: int, text: str) -> str:
    """Return what a terminal shows up to a text; fail when it does not come."""
    shown = ""
    while text not in shown:
        ready, _, _ = select.select([descriptor], [], [], 30)
        assert ready, shown
        shown += os.read(descriptor, 65536).decode(errors="replace")
    return shown


def test_both_commands_are_installed_as_programs() -> None:
    for name in ("new-worker", "remove-worker"):
        program = PurePosixPath(sys.executable).with_name(name)
        done = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=False)  # noqa: S603 - ours
        assert done.returncode == 0
        assert "Exit codes" in done.stdout
