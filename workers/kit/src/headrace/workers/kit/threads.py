"""Blocking code off the event loop, without letting go of the item before the code has ended."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial


async def run_in_thread[**Args, Result](
    function: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs
) -> Result:
    """Run a blocking function in a thread of its own and return what it returns.

    A thread cannot be stopped. When the caller is cancelled meanwhile, this waits until the function has ended and
    only then passes the cancel on, so that the item keeps its lease for as long as its code runs. The function can
    see the cancel coming: `current_claim().cancelled.is_set()` may be asked from the thread.

    The thread does not keep the process alive: one that never returns ends with the process, and its item comes back
    when the lease passes.

    Raises:
        Exception: What the function raised, unless the caller was cancelled.
    """
    return await _to_the_end(_begun(partial(function, *args, **kwargs), _name_of(function)))


async def run_detached[**Args, Result](
    function: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs
) -> Result:
    """Run a blocking function in a thread of its own, and leave it to itself when the caller is cancelled.

    For functions whose late end harms nobody, and that do end: each one left alone holds a thread until then. Unlike
    the event loop's few shared threads, slow ones keep nobody else waiting, and the process's end waits for none.

    Raises:
        Exception: What the function raised, unless the caller was cancelled.
    """
    return await _begun(partial(function, *args, **kwargs), _name_of(function))


def _begun[Result](call: Callable[[], Result], name: str) -> asyncio.Future[Result]:
    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()  # so that whoever stops waiting does not take the thread's place to answer
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - whatever was raised belongs to the one who waits
            outcome.set_exception(error)

    threading.Thread(target=work, name=f"thread of {name}", daemon=True).start()
    return asyncio.wrap_future(outcome)


async def _to_the_end[Result](future: asyncio.Future[Result]) -> Result:
    """Wait for the future through any number of cancels, and pass the last one on at the end."""
    cancel: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancel = error
    if cancel is not None:
        future.exception()  # the cancel outranks it; taken so that nobody is warned of an error never retrieved
        raise cancel
    return future.result()


def _name_of(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
