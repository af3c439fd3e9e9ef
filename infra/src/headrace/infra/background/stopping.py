"""The mechanics of a stop: who asks for it, in which order tasks hear of it, how long it may take."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial


class StopSwitch:
    """Asked once, the process stops gracefully; asked again, it stops at once. For one event loop.

    Attributes:
        stopping: Set by the first request.
    """

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self._asked_again = False
        self._on_second: Callable[[], None] | None = None

    def request(self) -> None:
        """Asks for a stop. The third and later requests change nothing."""
        if not self.stopping.is_set():
            self.stopping.set()
            return
        self._asked_again = True
        if self._on_second is not None:
            self._on_second()

    @contextmanager
    def on_second(self, act: Callable[[], None]) -> Iterator[None]:
        """Within the body, `act` is called for a second request, also for one made before; it must bear repeats."""
        self._on_second = act
        try:
            if self._asked_again:
                act()
            yield
        finally:
            self._on_second = None


@dataclass(eq=False, slots=True)
class StopPhase:
    """The tasks that are stopped together.

    Attributes:
        num_running: Those that have not returned.
        stop: What they wait for.
        all_returned: Set once none is left.
    """

    num_running: int = 0
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    all_returned: asyncio.Event = field(default_factory=asyncio.Event)

    def note_return(self) -> None:
        """One of the phase's tasks has returned as asked."""
        self.num_running -= 1
        if not self.num_running:
            self.all_returned.set()


def phases_of(numbers: Iterable[int]) -> dict[int, StopPhase]:
    """One phase per distinct number, in rising order, each counting its tasks."""
    phases: dict[int, StopPhase] = {}
    for number in sorted(numbers):
        phases.setdefault(number, StopPhase()).num_running += 1
    return phases


def arm(limit: asyncio.Timeout, after: timedelta) -> None:
    """Lets `limit` expire `after` from now, unless it runs already or its body is left."""
    if limit.when() is not None or limit.expired():
        return
    limit.reschedule(asyncio.get_running_loop().time() + after.total_seconds())


@contextmanager
def handled_signals(signals: Iterable[signal.Signals], act: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Within the body, calls `act` in the event loop for each of the signals; then puts the former handlers back.

    Raises:
        ValueError: Not in the main thread, where alone signals can be handled; nothing is changed.
    """
    loop = asyncio.get_running_loop()
    former = {each: signal.getsignal(each) for each in signals}
    installed: list[signal.Signals] = []
    try:
        for each in former:
            loop.add_signal_handler(each, partial(act, each))
            installed.append(each)
        yield
    finally:
        for each in installed:
            loop.remove_signal_handler(each)
            # None stands for a handler that was not installed from Python and cannot be put back.
            signal.signal(each, signal.SIG_DFL if former[each] is None else former[each])
