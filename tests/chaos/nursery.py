"""Starts worker processes for tests: imports the platform once, then forks a process for each order.

Importing takes seconds of processor time, and tests of whole processes start dozens of them. An order is a JSON line
on standard input; the answer is the new process's pid on standard output. Each process gets a folder: it is its
working directory, takes its output in `output`, and gets its exit code in `exit-code` once it has ended. When
standard input ends, so do all of them.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

OUTPUT: Final = "output"
EXIT_CODE: Final = "exit-code"
CRASHED: Final = 70


@dataclass(frozen=True, slots=True)
class Order:
    """What to start.

    Attributes:
        module: Whose `main` is the program.
        argv: Its arguments.
        environment: Its whole environment.
        folder: Its folder; must exist.
        is_fresh: Whether a new interpreter runs it, as in production, instead of a fork of this one.
    """

    module: str
    argv: list[str]
    environment: dict[str, str]
    folder: str
    is_fresh: bool = False


def main() -> None:
    """Serve orders until standard input ends."""
    for module in filter(find_spec, sys.argv[1:]):
        import_module(module)
    children: dict[int, Path] = {}
    signal.signal(signal.SIGCHLD, lambda _number, _frame: _reap(children))
    _say("ready")
    try:
        for line in sys.stdin:
            _say(str(_start(Order(**json.loads(line)), children)))
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        for pid in children:
            os.kill(pid, signal.SIGKILL)


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def _start(order: Order, children: dict[int, Path]) -> int:
    # A child that ends before it is noted down would never be reaped.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        pid = os.fork()
        if pid == 0:
            _become(order, mask)
        children[pid] = Path(order.folder)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pid


def _reap(children: dict[int, Path]) -> None:
    for pid in list(children):
        # Another signal may come meanwhile, and its handler be quicker.
        with suppress(ChildProcessError):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _note_end(children.pop(pid), os.waitstatus_to_exitcode(status))


def _note_end(folder: Path, code: int) -> None:
    draft = folder / f"{EXIT_CODE}.draft"
    draft.write_text(str(code), encoding="ascii")
    draft.replace(folder / EXIT_CODE)


def _become(order: Order, mask: set[Any]) -> None:
    """Turn this fork into the ordered process; never returns."""
    code = CRASHED
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _redirect(Path(order.folder))
        os.chdir(order.folder)
        if order.is_fresh:
            argv = [sys.executable, "-m", order.module, *order.argv]
            os.execve(argv[0], argv, order.environment)  # noqa: S606 - fixed argv, no shell
        os.environ.clear()
        os.environ.update(order.environment)
        sys.argv = [order.module, *order.argv]
        code = import_module(order.module).main()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is, it must not run on in the nursery's own code
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _redirect(folder: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)


if __name__ == "__main__":
    main()
