"""Ctrl-C and its like, for a command that must not be stopped between two steps of putting things back."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the body by an exception, as Ctrl-C does, so that it puts away what it has."""
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in former.items():
        if handler is not signal.SIG_IGN:  # nohup
            signal.signal(number, _exit)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def held_signals() -> Iterator[set[signal.Signals]]:
    """Let no signal that ends a process through before the body has ended; one that came is delivered then.

    Yields the signals that were held before, for a process that is started within: it inherits what is held.
    """
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield {signal.Signals(number) for number in former}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _exit(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)
