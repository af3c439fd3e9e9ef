"""The command that takes a worker out, over copies of this repository."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.new_worker.report import ExitCode
from tools.tests.new_worker.test_cli import HANDLER, KINDS, PAYLOAD, SAMPLE, Captured, make, remove
from tools.tests.new_worker.trees import changes, lasting_changes, state_of, write

AWKWARD = [
    ("ab", "AB"),
    ("a" * 40, "K" * 50),
    ("x-1-y-2", "X1_Y2"),
    ("zz-top", "ZZ_TOP"),
    ("handler", "HANDLER"),
    ("work-item", "WORK_ITEM"),
    ("headrace-loop", "HEADRACE"),
    ("settings", "SETTINGS"),
    ("jsonb", "JSON"),
    ("payload", "PAYLOAD"),
]


@pytest.mark.parametrize("more", [(), ("--lane", "bulk", "--container", *PAYLOAD)])
def test_tree_is_the_first_again_when_the_worker_is_removed(repository: Path, more: tuple[str, ...]) -> None:
    before = state_of(repository)
    assert make(repository, *SAMPLE, *more) == 0
    assert lasting_changes(repository, before)
    write(repository, "workers/sample-notifier/src/headrace/__pycache__/x.pyc", "compiled")
    assert remove(repository, "sample-notifier") == 0
    assert lasting_changes(repository, before) == []
    assert not (repository / "workers/sample-notifier").exists()


def test_workers_go_in_another_order_than_they_came(repository: Path) -> None:
    make(repository, "sample-carrier", "CARRY_SAMPLE")
    before = state_of(repository)
    make(repository, *SAMPLE)
    make(repository, "sample-sorter", "SORT_SAMPLE")
    assert remove(repository, "sample-notifier") == 0
    assert remove(repository, "sample-sorter") == 0
    assert lasting_changes(repository, before) == []


def test_edited_worker_stays_until_it_is_forced_out(repository: Path, capsys: Captured) -> None:
    before = state_of(repository)
    make(repository, *SAMPLE)
    write(repository, HANDLER, '"""Mine."""\n')
    write(repository, "workers/sample-notifier/notes.txt", "mine\n")
    edited = state_of(repository)
    assert remove(repository, "sample-notifier") == ExitCode.REFUSED
    assert lasting_changes(repository, edited) == []
    err = capsys.readouterr().err
    assert f"{HANDLER} was edited" in err
    assert "workers/sample-notifier/notes.txt was added" in err
    assert len(err.splitlines()) == 3
    assert remove(repository, "sample-notifier", "--force") == 0
    assert lasting_changes(repository, before) == []


def set_back(root: Path, path: str) -> None:
    """Make it so that another text was written into a worker's file than would be today."""
    manifest = root / "workers/sample-notifier/.new-worker.json"
    kept = json.loads(manifest.read_text())
    kept["files"][path] = f"sha256:{'0' * 64}"
    manifest.write_text(json.dumps(kept, indent=2) + "\n")


def test_worker_goes_when_a_shared_setting_has_changed_its_list_of_settings(repository: Path, capsys: Captured) -> None:
    before = state_of(repository)
    make(repository, *SAMPLE)
    env_file = "workers/sample-notifier/.env.example"
    set_back(repository, env_file)
    made, listed = state_of(repository), (repository / env_file).read_text()
    assert make(repository, *SAMPLE) == 0
    assert changes(repository, made) == []
    write(repository, env_file, "# Mine.\n")
    assert remove(repository, "sample-notifier") == ExitCode.REFUSED
    assert f"{env_file} was edited" in capsys.readouterr().err
    write(repository, env_file, listed)
    assert remove(repository, "sample-notifier") == 0
    assert lasting_changes(repository, before) == []


def test_copied_worker_is_not_removed_and_neither_is_its_model(repository: Path, capsys: Captured) -> None:
    make(repository, *SAMPLE)
    shutil.copytree(repository / "workers/sample-notifier", repository / "workers/my-copy")
    before = state_of(repository)
    assert remove(repository, "my-copy", "--force") == ExitCode.REFUSED
    assert changes(repository, before) == []
    assert "is that of the worker sample-notifier" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("maintenance", "was not made by new-worker"), ("nobody", "There is no worker"), ("../om", "There is no worker")],
)
def test_worker_is_not_removed_when_it_was_not_made(
    repository: Path, capsys: Captured, name: str, sentence: str
) -> None:
    before = state_of(repository)
    assert remove(repository, name, "--force") == ExitCode.REFUSED
    assert changes(repository, before) == []
    assert sentence in capsys.readouterr().err


def test_removal_writes_nothing_in_a_dry_run(repository: Path, capsys: Captured) -> None:
    make(repository, *SAMPLE)
    before = state_of(repository)
    assert remove(repository, "sample-notifier", "--dry-run") == 0
    assert changes(repository, before) == []
    assert "deleted file mode 100644" in capsys.readouterr().out


def test_broken_manifest_is_a_conflict(repository: Path, capsys: Captured) -> None:
    make(repository, *SAMPLE)
    write(repository, "workers/sample-notifier/.new-worker.json", "{}")
    assert remove(repository, "sample-notifier") == ExitCode.REFUSED
    assert ".new-worker.json cannot be read" in capsys.readouterr().err


def test_uncommitted_changes_stay_as_they_are(repository: Path) -> None:
    readme, kinds = repository / "README.md", repository / KINDS
    readme.write_text(readme.read_text() + "\nMine.\n")
    kinds.write_text(kinds.read_text().replace("The kinds of work", "My kinds of work"))
    before = state_of(repository)
    assert make(repository, *SAMPLE) == 0
    assert readme.read_text().endswith("\nMine.\n")
    assert kinds.read_text().startswith('"""My kinds of work')
    assert remove(repository, "sample-notifier") == 0
    assert lasting_changes(repository, before) == []


@pytest.mark.parametrize(("name", "kind"), AWKWARD)
def test_worker_is_clean_and_goes_again_when_its_name_is_awkward(repository: Path, name: str, kind: str) -> None:
    before = state_of(repository)
    assert make(repository, name, kind, *PAYLOAD) == 0
    made = [f"workers/{name}", "om/src", f"om/tests/unit/test_payload_{kind.lower()}.py"]
    for command in (["check"], ["format", "--check"]):
        argv = [sys.executable, "-m", "ruff", *command, "--quiet", "--no-cache", *made]
        done = subprocess.run(argv, cwd=repository, capture_output=True, text=True, check=False)  # noqa: S603 - ruff
        assert done.returncode == 0, done.stdout
    assert remove(repository, name) == 0
    assert lasting_changes(repository, before) == []
