"""The command line's root: its command groups, and what becomes of every error."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any, override

import typer
from typer.core import TyperGroup

from headrace.workers.console.cli import migrate, schedules, seed, status, webhooks, work, worker
from headrace.workers.console.cli.entry import mute_logs
from headrace.workers.console.cli.refusals import ExitCode, Refusal, help_of, refusal_of
from headrace.workers.console.cli.screen import ReaderGone, json_text, write


class ConsoleGroup(TyperGroup):
    """The root command: whatever happens below it ends in an exit code and at most one sentence."""

    @override
    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line; exit with its code, or return it where the caller wants no exit."""
        given = list(sys.argv[1:] if args is None else args)
        _prepare_streams()
        code = _guarded(
            lambda: super(ConsoleGroup, self).main(
                given,
                prog_name or "headrace",
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            ),
            _options_of(given),
        )
        if standalone_mode:
            sys.exit(code)
        return code


app = typer.Typer(
    cls=ConsoleGroup,
    help="Operates Headrace: work, webhooks, migrations, workers. `headrace seed` makes a local org to begin with.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (migrate, seed, status, work, schedules, webhooks, worker):
    module.register(app)


def show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    """Show the version and end, where that is asked for."""
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - start-up stays fast

        write(f"headrace {version('headrace-console')}\n")
        raise typer.Exit


Debug = Annotated[bool, typer.Option("--debug", help="Show log lines, and where an error comes from.")]
Version = Annotated[
    bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
]


@app.callback()
def root(*, debug: Debug = False, version: Version = False) -> None:  # noqa: ARG001 - typer shows the version before
    """Set up what all commands share."""
    mute_logs(debug=debug)


def _guarded(run: Any, options: frozenset[str]) -> int:  # noqa: ANN401 - typer's main returns anything
    try:
        returned = run()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ReaderGone:
        _let_go_of_stdout()
        return ExitCode.PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - whatever it is, people get a sentence
        if (shown := help_of(error)) is not None:
            sys.stderr.write(shown)
            return ExitCode.USAGE
        if "--debug" in options:
            traceback.print_exc()
        return _refused(refusal_of(error), as_json="--json" in options)
    return returned if isinstance(returned, int) else ExitCode.OK


def _refused(refusal: Refusal, *, as_json: bool) -> int:
    sys.stderr.write(refusal.sentence())
    try:
        if as_json:
            write(json_text(refusal.document()))
        # What could not be written a moment ago is still waiting in the stream.
        sys.stdout.flush()
    except (ReaderGone, OSError):
        _let_go_of_stdout()
    return refusal.exit_code


def _options_of(given: Sequence[str]) -> frozenset[str]:
    """Return the words of the command line that may be options: an error may come before they are read."""
    return frozenset(given[: given.index("--")] if "--" in given else given)


def _prepare_streams() -> None:
    """Give closed streams a place to write to; let them write what their encoding cannot as escapes, and not fail."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _let_go_of_stdout() -> None:
    """Lead standard output nowhere, so that the interpreter's last flush does not fail in turn."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
