"""The renewer in a thread with an event loop and connections of its own: a handler that blocks costs no lease."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from headrace.om.work.manager import WorkHolderInterface
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.renewal import LeaseRenewer, LeaseTimes

type OpenControl = Callable[[], AbstractAsyncContextManager[WorkHolderInterface]]
"""Opens the queue over connections of the running event loop, and closes them."""


class ThreadedRenewal:
    """Hosts a `LeaseRenewer` in a thread.

    The thread touches nothing of the worker's event loop but the book, which is made for that. It ends with the
    process even when a statement of its own hangs.

    Args:
        open_control: Called once, in the thread's own event loop.
        core: Its clock must be free for use from any thread.
        times: The lease.
    """

    def __init__(self, open_control: OpenControl, core: LoopCore, times: LeaseTimes) -> None:
        self._open_control = open_control
        self._core = core
        self._times = times

    async def run(self, stop: asyncio.Event, notify: Callable[[], None]) -> None:
        """Renew until `stop` is set; see `RenewalHost`.

        Raises:
            Exception: What ended the thread before it was asked to.
        """
        thread = _RenewalThread(self._renew, asyncio.get_running_loop(), notify)
        thread.start()
        try:
            async with asyncio.TaskGroup() as group:
                stopper = group.create_task(_stop_with(stop, thread))
                await thread.ended.wait()
                stopper.cancel()
        finally:
            thread.ask_to_stop()
        if thread.error is not None:
            raise thread.error

    async def _renew(self, stop: asyncio.Event, notify: Callable[[], None]) -> None:
        async with self._open_control() as work:
            await LeaseRenewer(work, self._core, self._times, notify).run(stop)


class _RenewalThread:
    """One thread, its event loop, and how the two loops tell each other things."""

    def __init__(
        self,
        renew: Callable[[asyncio.Event, Callable[[], None]], Coroutine[Any, Any, None]],
        outer: asyncio.AbstractEventLoop,
        notify: Callable[[], None],
    ) -> None:
        self.ended = asyncio.Event()
        self.error: BaseException | None = None
        self._renew = renew
        self._outer = outer
        self._notify = notify
        self._inner: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._is_asked = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._work, name="lease renewal", daemon=True).start()

    def ask_to_stop(self) -> None:
        self._is_asked.set()
        inner, stop = self._inner, self._stop
        if inner is not None and stop is not None and not inner.is_closed():
            _call_in(inner, stop.set)

    def _work(self) -> None:
        try:
            asyncio.run(self._life())
        except BaseException as error:  # noqa: BLE001 - handed to the worker's loop, which ends the process by it
            self.error = error
        _call_in(self._outer, self.ended.set)

    async def _life(self) -> None:
        self._stop, self._inner = asyncio.Event(), asyncio.get_running_loop()
        if self._is_asked.is_set():
            return
        await self._renew(self._stop, lambda: _call_in(self._outer, self._notify))


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call in another thread's loop; a loop that is closed meanwhile needs no telling."""
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        return


async def _stop_with(stop: asyncio.Event, thread: _RenewalThread) -> None:
    await stop.wait()
    thread.ask_to_stop()
