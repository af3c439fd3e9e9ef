import json
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.workers.__main__ import main
from tools.tests.workers.projects import write_project, write_worker

SOURCES = Path(__file__).parents[2] / "src"


def test_programs_get_one_line_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_project(tmp_path, "console", '[project.scripts]\nheadrace = "x:main"\n')
    assert main(["--json", "--root", str(write_worker(tmp_path))]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    document = json.loads(out)
    assert document["workers"][0]["metrics_port"] == 9103
    assert [each["image"] for each in document["images"]] == ["headrace-console", "headrace-shipment-notifier"]


def test_people_get_a_line_a_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(write_worker(tmp_path))]) == 0
    assert capsys.readouterr().out.startswith("shipment-notifier: NOTIFY_SHIPMENT from lane default")


def test_a_refusal_is_one_sentence_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(write_worker(tmp_path, cpu="1"))]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1


def test_it_runs_where_nothing_is_installed(tmp_path: Path) -> None:
    argv = [sys.executable, "-S", "-m", "headrace.tools.workers", "--root", str(write_worker(tmp_path))]
    done = subprocess.run(  # noqa: S603 - this interpreter with fixed arguments
        argv, env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
