import logging
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from headrace.infra.exceptions import BackendUnavailable, ConfigurationInvalid
from headrace.om.exceptions import Unavailable
from headrace.workers.console.cli.refusals import refusal_of
from workers.console.tests.command_line import CommandLine


@pytest.fixture(autouse=True)
def former_handlers() -> Iterator[None]:
    """Commands set logging up; take it back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level


def failing(line: CommandLine, error: BaseException) -> CommandLine:
    line.failure = error
    return line


def test_without_a_key_one_sentence_says_what_to_do(line: CommandLine) -> None:
    said = line.run("status").stderr
    assert said.count("\n") == 1
    assert "HEADRACE_API_KEY" in said
    assert "headrace seed" in said
    assert line.refused("status").startswith("api_key_missing: ")


def test_a_key_that_signs_nobody_in_is_refused(line: CommandLine) -> None:
    line.changes["api_key"] = "hr_nonsense"
    assert line.refused("status").startswith("not_authenticated: ")


@pytest.mark.parametrize("error", [Unavailable("the database is away"), BackendUnavailable("the store is away")])
def test_an_unavailable_backend_ends_with_3(line: CommandLine, error: Exception) -> None:
    assert "away" in failing(line, error).refused("status", exit_code=3)


def test_settings_that_cannot_work_end_with_1(line: CommandLine) -> None:
    assert "x is bad" in failing(line, ConfigurationInvalid("x is bad")).refused("status")


def test_an_unexpected_error_is_a_sentence_and_a_trace_only_with_debug(line: CommandLine) -> None:
    failing(line, RuntimeError("a bug"))
    assert line.refused("status") == "internal_error: unexpected RuntimeError: a bug"
    assert "--debug" in line.run("status").stderr
    assert "Traceback" in line.run("--debug", "status").stderr


def test_ctrl_c_ends_with_130(line: CommandLine) -> None:
    said = failing(line, KeyboardInterrupt()).run("status")
    assert (said.exit_code, said.stdout, said.stderr) == (130, "", "")


def test_control_characters_of_an_error_never_reach_the_terminal() -> None:
    sentence = refusal_of(RuntimeError("\x1b[2J \u202e evil\n")).sentence()
    assert "\x1b" not in sentence
    assert "\u202e" not in sentence
    assert r"\x1b[2J \u202e evil\n" in sentence


def test_help_and_version_need_no_settings(line: CommandLine) -> None:
    failing(line, RuntimeError("never asked"))
    for args in (("--help",), ("work", "--help"), ("webhooks", "endpoint", "--help"), ("--version",)):
        result = line.run(*args)
        assert (result.exit_code, result.stderr) == (0, ""), args


@pytest.mark.parametrize("args", [(), ("work",), ("webhooks",), ("webhooks", "endpoint"), ("worker",)])
def test_an_incomplete_command_shows_its_help_and_ends_with_2(line: CommandLine, args: tuple[str, ...]) -> None:
    result = line.run(*args)
    assert result.exit_code == 2
    assert "Usage: " in result.output


def test_an_unknown_command_ends_with_2(line: CommandLine) -> None:
    assert line.refused("nonsense", exit_code=2).startswith("usage: ")


def test_local_only_backends_are_refused_in_the_cloud(line: CommandLine) -> None:
    line.changes |= {"environment": "production", "api_key": SecretStr("hr_x")}
    from headrace.workers.console.container import build  # noqa: PLC0415 - beside its use

    with pytest.raises(ConfigurationInvalid, match="HEADRACE_CACHE_BACKEND=memory is local-only"):
        build(line.settings())


def test_building_the_console_opens_nothing(line: CommandLine) -> None:
    from headrace.workers.console.container import build  # noqa: PLC0415 - beside its use

    built = build(line.settings())
    assert built.database is not None
    assert built.local_secrets is not None
