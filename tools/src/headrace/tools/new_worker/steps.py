"""The commands that follow a change: the lock, which belongs to it, and the checks, which judge it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from ruff import find_ruff_bin  # type: ignore[import-untyped]  # it ships no types

from headrace.tools.new_worker.signals import held_signals

_GRACE_SECONDS: Final = 10.0
# A make that runs this program must not hand its own flags and job server to the make that this program runs.
_OF_THE_OUTER_MAKE: Final = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")


@dataclass(frozen=True, slots=True)
class Step:
    """A command.

    Attributes:
        name: What it is called in the report.
        argv: The program and its arguments.
        environment: What is set for it beside what this process has.
        is_shown: Whether its output goes to the terminal as it comes; it is kept for the report otherwise.
        timeout_seconds: After this it is stopped, and has failed.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_shown: bool = False
    timeout_seconds: float = 900.0

    @property
    def command(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.argv)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a command ended.

    Attributes:
        step: The command.
        is_ok: Whether it ended with 0.
        output: What it said, unless that was shown already.
    """

    step: Step
    is_ok: bool
    output: str


def run_step(step: Step, root: Path, descriptors: tuple[int, ...] = ()) -> StepOutcome:
    """Run a command in a tree and wait for it.

    The command leads a group of processes of its own; when the wait ends early, by a signal or the time limit, the
    whole group has ended before this returns or raises, so that nothing goes on writing into the tree.

    Args:
        step: The command.
        root: The tree, which it runs in.
        descriptors: What it has open beside its output, for as long as it runs.
    """
    output = sys.stderr if step.is_shown else subprocess.PIPE
    try:
        with _process(step, root, output, descriptors) as process:
            told, _ = process.communicate(timeout=step.timeout_seconds)
    except OSError as error:
        return StepOutcome(step, is_ok=False, output=f"{step.argv[0]} cannot be run: {error.strerror}.")
    except subprocess.TimeoutExpired:
        return StepOutcome(step, is_ok=False, output=f"It took longer than {step.timeout_seconds:.0f} s.")
    return StepOutcome(step, is_ok=process.returncode == 0, output=(told or "").strip())


def lock_step(root: Path) -> Step:
    """Return how the dependencies are resolved again; a worker that asks for nothing new needs no network for it."""
    uv = root / ".headrace" / "bin" / "uv"
    program = str(uv) if uv.exists() else os.environ.get("UV", "uv")
    argv = (sys.executable, "-m", "headrace.tools.lock", "relock", "--root", str(root), "--uv", program)
    # The tree's own tool, where it has one, knows best where its locks are.
    source = root / "tools" / "src"
    environment = {"PYTHONPATH": str(source)} if (source / "headrace" / "tools" / "lock").is_dir() else {}
    return Step("lock", argv, environment)


def check_steps(files: tuple[PurePosixPath, ...], *, verify: bool) -> Iterator[Step]:
    """Yield the checks of a change that is in place.

    Args:
        files: What it wrote.
        verify: Whether the tree's whole fast gate is to pass too.
    """
    sources = tuple(str(path) for path in files if path.suffix == ".py")
    if sources:
        yield Step("format", (find_ruff_bin(), "format", "--check", "--no-cache", "--quiet", *sources))
    if verify:
        yield Step("gate", ("make", "--no-print-directory", "check"), is_shown=True, timeout_seconds=3600.0)


@contextmanager
def _process(step: Step, root: Path, output: object, descriptors: tuple[int, ...]) -> Iterator[subprocess.Popen[str]]:
    process: subprocess.Popen[str] | None = None
    try:
        # A signal that comes while the command starts waits until it is known which group is to be stopped.
        with held_signals() as unheld:
            process = _started(step, root, output, descriptors, unheld)
        yield process
    except BaseException:
        if process is not None:
            _stop_group(process)
        raise
    finally:
        if process is not None:
            with process:
                pass


def _started(
    step: Step, root: Path, output: object, descriptors: tuple[int, ...], mask: set[signal.Signals]
) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THE_OUTER_MAKE}
    started: subprocess.Popen[str] = subprocess.Popen(  # noqa: S603 - the tree's own tools, with fixed arguments
        step.argv,
        cwd=root,
        env={**environment, **step.environment},
        stdin=subprocess.DEVNULL,
        stdout=output,  # type: ignore[call-overload]  # a pipe or a file
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        pass_fds=descriptors,
        preexec_fn=partial(signal.pthread_sigmask, signal.SIG_SETMASK, mask),  # noqa: PLW1509 - one thread runs here
    )
    return started


def _stop_group(process: "subprocess.Popen[str]") -> None:
    """End a process with all that it started; at the latest when the grace is over."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        if _has_ended(process):
            return


def _has_ended(process: "subprocess.Popen[str]") -> bool:
    """Wait for a group to be gone, within the grace."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
