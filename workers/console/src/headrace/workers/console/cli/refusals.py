"""How a command that fails says so: an exit code, one sentence, and in JSON mode an error object."""

import sys
from dataclasses import dataclass
from enum import IntEnum
from http import HTTPStatus

import typer

from headrace.infra.exceptions import InfraException
from headrace.om.exceptions import PlatformException, ValidationFailed
from headrace.workers.console.cli.text import visible


class ExitCode(IntEnum):
    """What the command line ends with."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    UNAVAILABLE = 3
    INTERRUPTED = 130
    """Ctrl-C; what shells say of SIGINT."""
    PIPE_CLOSED = 141
    """Whoever read the output has stopped; what shells say of SIGPIPE."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer.

    Attributes:
        code: Stable machine-readable name.
        message: One sentence.
        exit_code: What the process ends with.
        hint: What helps, for people; may be empty.
    """

    code: str
    message: str
    exit_code: int
    hint: str = ""

    def document(self) -> dict[str, dict[str, str]]:
        """Return the error object of JSON mode."""
        return {"error": {"code": self.code, "message": self.message}}

    def sentence(self) -> str:
        """Return what standard error says."""
        said = f"headrace: {visible(self.message)}\n"
        return f"{said}{visible(self.hint)}\n" if self.hint else said


def refusal_of(error: Exception) -> Refusal:
    """Return what an error means to whoever runs the command; never raises."""
    if isinstance(error, PlatformException | InfraException):
        return Refusal(error.code, str(error), _exit_code_of(error))
    if isinstance(error, typer.TyperException):
        return Refusal("usage", error.format_message(), error.exit_code, _usage_hint(error))
    if (misfit := _misfit(error)) is not None:
        return Refusal(ValidationFailed.code, misfit, ExitCode.USAGE)
    what = f"unexpected {type(error).__name__}: {error}" if str(error) else f"unexpected {type(error).__name__}"
    return Refusal("internal_error", what, ExitCode.REFUSED, "`headrace --debug ...` shows where it comes from.")


def _exit_code_of(error: PlatformException | InfraException) -> ExitCode:
    if isinstance(error, ValidationFailed):
        return ExitCode.USAGE
    return ExitCode.UNAVAILABLE if error.http_status == HTTPStatus.SERVICE_UNAVAILABLE else ExitCode.REFUSED


def help_of(error: Exception) -> str | None:
    """Return the help that a command without its subcommand asks to be shown, or None where an error is an error."""
    # By name: the class is typer's own, which it does not export.
    if isinstance(error, typer.TyperException) and type(error).__name__ == "NoArgsIsHelpError":
        return error.format_message() + "\n"
    return None


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return "" if context is None else f"`{context.command_path} --help` shows what is expected."


def _misfit(error: Exception) -> str | None:
    """Return what does not fit, for a model's own validation error."""
    # Looked up and not imported: nothing of it can have been raised while it is not loaded.
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not isinstance(error, pydantic.ValidationError):
        return None
    first = error.errors(include_url=False, include_input=False)[0]
    # An option that is given several times is one option: its place among them says nothing.
    field = ".".join(part for part in first["loc"] if isinstance(part, str))
    said = first["msg"].removeprefix("Value error, ")
    return f"{field}: {said[:1].lower()}{said[1:]}" if field else said
