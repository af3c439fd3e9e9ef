"""The signals that end a command which has much to put away: the first asks it to end, the second makes it hurry."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn


def _ending() -> tuple[signal.Signals, ...]:
    """Return Ctrl-C, SIGTERM, and the terminal's end, unless whoever started this command keeps that from it."""
    is_kept = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) if is_kept else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts the signals to one task.

    Args:
        task: Cancelled by the first signal.
        hurry: Called at each signal that comes when the task is ending already.
        is_ending: Tells whether it does so by itself.
    """

    def __init__(self, task: "asyncio.Task[int]", hurry: Callable[[], None], is_ending: Callable[[], bool]) -> None:
        self._task = task
        self._hurry = hurry
        self._is_ending = is_ending
        self._num = 0

    @property
    def has_cancelled(self) -> bool:
        """Whether a signal has cancelled the task."""
        return self._num > 0

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Take the signals around the body; the running loop's alone."""
        loop = asyncio.get_running_loop()
        numbers = _ending()
        for number in numbers:
            loop.add_signal_handler(number, self._take)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _take(self) -> None:
        if self._num or self._is_ending():
            self._hurry()
        else:
            self._num += 1
            self._task.cancel()


@contextmanager
def ending_by_exit() -> Iterator[Callable[[], None]]:
    """Let SIGTERM and the terminal's end raise SystemExit in the body, as Ctrl-C raises KeyboardInterrupt.

    So it puts away what it has. Gives a function to call once that has begun: from then on all three are ignored.
    """
    former = {number: signal.getsignal(number) for number in _ending()}

    def ignore() -> None:
        for number in former:
            signal.signal(number, signal.SIG_IGN)

    for number in former.keys() - {signal.SIGINT}:
        signal.signal(number, _exit)
    try:
        yield ignore
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _exit(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)
