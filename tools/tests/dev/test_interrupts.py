import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from headrace.tools.dev.interrupts import Interrupts, ending_by_exit


@pytest.fixture(autouse=True)
def at_a_terminal() -> Iterator[None]:
    """Handle signals as at a terminal, whatever nohup or a shell in the background has made of them."""
    default: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    former = {number: signal.signal(number, handler) for number, handler in default.items()}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@dataclass
class Ended:
    """What the task under test saw."""

    hurries: asyncio.Event = field(default_factory=asyncio.Event)
    is_ending: bool = False


async def waiting(ended: Ended) -> int:
    """Waits for the signals that it sends itself: the first cancels, the second hurries."""
    task = asyncio.current_task()
    assert task is not None
    interrupts = Interrupts(task, ended.hurries.set, lambda: ended.is_ending)
    with interrupts.installed():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            task.uncancel()
            os.kill(os.getpid(), signal.SIGINT)
            async with asyncio.timeout(10):
                await ended.hurries.wait()
    return 1 if interrupts.has_cancelled else 0


async def test_the_first_signal_cancels_and_the_second_hurries() -> None:
    assert await asyncio.create_task(waiting(Ended())) == 1


async def test_a_signal_hurries_at_once_when_the_task_is_ending_by_itself() -> None:
    hurries = asyncio.Event()

    async def ending() -> int:
        task = asyncio.current_task()
        assert task is not None
        with Interrupts(task, hurries.set, lambda: True).installed():
            os.kill(os.getpid(), signal.SIGINT)
            async with asyncio.timeout(10):
                await hurries.wait()
        return 0

    assert await asyncio.create_task(ending()) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_the_terminals_end_end_the_body_and_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as ended, ending_by_exit():
        os.kill(os.getpid(), number)
    assert ended.value.code == 128 + number
    assert signal.getsignal(number) is before


def test_the_terminals_end_is_ignored_where_whoever_started_the_command_wants_that() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_by_exit():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signals_are_ignored_once_putting_away_has_begun() -> None:
    with ending_by_exit() as ignore:
        ignore()
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
