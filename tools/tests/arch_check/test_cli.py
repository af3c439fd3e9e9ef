"""The command's output and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.tools.arch_check.cli import main
from tools.tests.arch_check.trees import OM, clean_tree

type Captured = pytest.CaptureFixture[str]


def test_exit_is_0_when_the_tree_is_clean(tmp_path: Path, capsys: Captured) -> None:
    clean_tree(tmp_path)
    assert main(["--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("modules: clean\n")


def test_exit_is_1_and_each_finding_a_line_when_there_are_findings(tmp_path: Path, capsys: Captured) -> None:
    clean_tree(tmp_path).write(f"{OM}/work/utils.py", "x = 1\n")
    assert main(["--root", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{OM}/work/utils.py:1: NAM-1 utils says nothing")
    assert lines[-1].endswith("1 findings")


def test_report_is_data_when_json_is_asked_for(tmp_path: Path, capsys: Captured) -> None:
    clean_tree(tmp_path).write(f"{OM}/work/utils.py", "x = 1\n")
    assert main(["--root", str(tmp_path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["clean"] is False
    assert [(each["path"], each["line"], each["rule"]) for each in report["findings"]] == [
        (f"{OM}/work/utils.py", 1, "NAM-1")
    ]


@pytest.mark.parametrize(
    ("pyproject", "says"),
    [
        ("[tool", "cannot be read as TOML"),
        ("[tool.arch-check.options.CTX-99]\nx = 1", "CTX-99"),
        ("[tool.arch-check.options.CTX-12]\ntenantles = []", "tenantles"),
        ('[tool.arch-check.options.CTX-30]\nexempt = { "A.b" = "" }', "A.b"),
        ("tool = 1", "pyproject.toml, tool:"),
    ],
)
def test_exit_is_2_when_the_options_are_wrong(tmp_path: Path, capsys: Captured, pyproject: str, says: str) -> None:
    clean_tree(tmp_path).write("pyproject.toml", pyproject)
    assert main(["--root", str(tmp_path)]) == 2
    assert says in capsys.readouterr().err


def test_exit_is_2_when_there_is_no_tree(tmp_path: Path, capsys: Captured) -> None:
    assert main(["--root", str(tmp_path)]) == 2
    assert "pyproject.toml" in capsys.readouterr().err


def test_exit_is_2_when_there_are_two_root_packages(tmp_path: Path, capsys: Captured) -> None:
    clean_tree(tmp_path).write("om/src/other/om/__init__.py", "")
    assert main(["--root", str(tmp_path)]) == 2
    assert "acme, other" in capsys.readouterr().err


def test_exit_is_2_when_an_argument_is_unknown() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--no-such-argument"])
    assert stopped.value.code == 2


def test_rules_are_printed_with_reasons_when_listed(capsys: Captured) -> None:
    assert main(["--list", "--json"]) == 0
    rules = json.loads(capsys.readouterr().out)
    assert {"CTX-12", "CTX-26", "CTX-30"} <= {rule["id"] for rule in rules if rule["reason"]}


def test_package_runs_as_a_module(tmp_path: Path) -> None:
    clean_tree(tmp_path)
    command = [sys.executable, "-m", "headrace.tools.arch_check", "--root", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)  # noqa: S603 - our own interpreter and module
    assert (done.returncode, done.stderr) == (0, "")
