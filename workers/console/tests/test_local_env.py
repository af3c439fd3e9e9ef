from pathlib import Path

import pytest

from headrace.workers.console.local_env import read_variables, set_variables

ODD = 'it\'s \\ a $HOME "quoted" #value with spaces é'


def test_what_is_set_is_read_back_exactly(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "local.env"
    set_variables(file, {"A": ODD, "B": ""})
    assert read_variables(file) == {"A": ODD, "B": ""}


def test_other_lines_stay_when_a_variable_is_set_again(tmp_path: Path) -> None:
    file = tmp_path / "local.env"
    file.write_text("# a comment\nexport A=1\nC=3\n", encoding="utf-8")
    set_variables(file, {"A": "2", "B": "x"})
    assert file.read_text(encoding="utf-8") == "# a comment\nC=3\nA='2'\nB='x'\n"


def test_only_the_owner_may_read_the_file_whatever_it_was_before(tmp_path: Path) -> None:
    file = tmp_path / "local.env"
    file.touch(mode=0o644)
    set_variables(file, {"A": "1"})
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["local.env"]


def test_a_value_over_several_lines_is_refused_and_the_file_stands(tmp_path: Path) -> None:
    file = tmp_path / "local.env"
    set_variables(file, {"A": "1"})
    with pytest.raises(ValueError, match="A: expected a value on one line"):
        set_variables(file, {"A": "1\nB=2"})
    assert read_variables(file) == {"A": "1"}


def test_a_missing_file_holds_nothing(tmp_path: Path) -> None:
    assert read_variables(tmp_path / "none") == {}
