import io
import sys
from typing import override

import pytest

from headrace.workers.console.cli.screen import Block, Fields, Line, ReaderGone, Rows, answer, progress
from headrace.workers.console.cli.text import visible, visible_lines

TABLE = Rows(("ID", "STATUS", "ERROR"), [("01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d", "failed", "it broke " * 20)])


def written(capsys: pytest.CaptureFixture[str], *blocks: Block) -> str:
    answer({}, *blocks, as_json=False)
    return capsys.readouterr().out


def test_a_table_is_one_line_a_row_when_nobody_reads_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(written(capsys, TABLE).splitlines()) == 2


def test_rows_become_fields_when_the_terminal_is_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = written(capsys, TABLE).splitlines()
    assert lines[:2] == ["ID      01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d", "STATUS  failed"]


def test_the_last_column_folds_when_the_terminal_is_wide_enough_for_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = written(capsys, TABLE).splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 100
    assert all(line == line.rstrip() for line in lines)


def test_wide_characters_are_measured_by_the_cells_they_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert written(capsys, Rows(("A", "B"), [("界" * 12, "b")])).splitlines() == [f"A  {'界' * 12}", "B  b"]


def test_colours_are_only_for_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in written(capsys, TABLE)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[31mfailed" in written(capsys, TABLE)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in written(capsys, TABLE)


def test_markup_in_values_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert "[red]x[/] :smile:" in written(capsys, Rows(("A",), [("[red]x[/] :smile:",)]))
    assert "[bold]" in written(capsys, Line("[bold]"))


def test_values_of_several_lines_stay_under_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert written(capsys, Fields([("a", "1\n2"), ("bb", "3")])) == "a   1\n    2\nbb  3\n"


def test_a_sentence_stays_one_line_whatever_name_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert written(capsys, Line("schedule two\nlines\t\x1b[2J is gone")) == (
        r"schedule two\nlines\t\x1b[2J is gone" + "\n"
    )


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert written(capsys, Rows(("A",), [], empty="nothing here")) == "nothing here\n"


def test_a_document_is_ascii_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    answer({"a": "Grüße \ud800 \U0001f469"}, as_json=True)
    assert capsys.readouterr().out.isascii()


def test_progress_is_silent_when_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("work") as bar:
        bar.move("half", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_closed_reader_is_noticed_while_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        @override
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(ReaderGone):
        answer({}, as_json=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain Grüße 界", "plain Grüße 界"),
        ("a\x00\x1b[31m\r\n", r"a\x00\x1b[31m\r\n"),
        ("\u202etxt.exe \u2066", r"\u202etxt.exe \u2066"),
        ("\ud800 \x9b", r"\ud800 \x9b"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
    ],
)
def test_what_a_terminal_would_act_on_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_line_ends_stay_where_lines_are_wanted() -> None:
    assert visible_lines("a\tb\n\x1bc") == "a    b\n\\x1bc"
