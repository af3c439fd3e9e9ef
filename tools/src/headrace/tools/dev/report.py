"""What the person at the terminal sees of the main job: a live table, or a line for each change where none can be."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.live import Live
from rich.table import Table
from rich.text import Text

from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.tools.dev.deliveries import Delivery, delivery_problems
from headrace.tools.dev.receiver import Receiver
from headrace.tools.dev.screen import Screen
from headrace.workers.console.cli.text import visible

_STYLES: Final = {WorkStatus.DONE: "green", WorkStatus.FAILED: "magenta", WorkStatus.CLAIMED: "cyan"}
_MARKS: Final = {True: Text("right", "bold green"), False: Text("wrong", "bold red")}
_ANSWERED: Final = re.compile(r"the receiver answered (\d+)")

type Show = Callable[[Sequence[Delivery]], None]


@contextmanager
def showing(screen: Screen, receiver: Receiver) -> Iterator[Show]:
    """Give a function that shows how deliveries stand; what it showed last stays on the screen."""
    console = screen.console
    if not console.is_terminal or console.is_dumb_terminal:
        yield _Lines(screen).show
        return
    shown: list[Table] = []
    with Live(console=console, transient=True, refresh_per_second=8) as live:

        def show(deliveries: Sequence[Delivery]) -> None:
            shown[:] = [_table(deliveries, receiver)]
            live.update(shown[0])

        yield show
    console.print(*shown)


def _table(deliveries: Sequence[Delivery], receiver: Receiver) -> Table:
    num_settled = sum(each.is_settled for each in deliveries)
    caption = (
        f"{num_settled} of {len(deliveries)} messages settled; {receiver.num_posts} posts received,"
        f" {receiver.num_verified} signatures verified"
    )
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), caption=caption, caption_justify="left")
    for column in ("EVENT", "ENDPOINT", "ATTEMPTS", "STATUS", "LAST ANSWER", "MUST END", ""):
        table.add_column(column, no_wrap=True, overflow="ellipsis")
    for each in deliveries:
        table.add_row(*_row(each))
    return table


def _row(delivery: Delivery) -> tuple[Text, ...]:
    item = delivery.item
    status = "published" if item is None else str(item.status)
    style = "" if item is None else _STYLES.get(item.status, "")
    return (
        Text(delivery.sample.event_type),
        Text(f"/{delivery.route.name}"),
        Text("-" if item is None else f"{item.attempts}/{item.max_attempts}"),
        Text(status, style),
        Text(visible(_last_answer(delivery))),
        Text(delivery.route.says),
        _MARKS[not delivery_problems(delivery)] if delivery.is_settled else Text(""),
    )


def _last_answer(delivery: Delivery) -> str:
    """Returns what the dispatcher learned last, as the work item tells it."""
    item = delivery.item
    if item is None or item.attempts == 0:
        return "-"
    if item.status is WorkStatus.DONE:
        return f"{item.result['status']}, verified" if _is_verified(delivery) else f"{item.result['status']}"
    answered = _ANSWERED.search(item.last_error or "")
    return answered[1] if answered else _words(item)


def _words(item: WorkItem) -> str:
    first = (item.last_error or "-").partition("\n")[0]
    return first.partition(": ")[2].partition(" (")[0] or first


def _is_verified(delivery: Delivery) -> bool:
    return bool(delivery.arrivals) and all(each.is_verified for each in delivery.arrivals)


class _Lines:
    """Shows each change of each delivery as a line."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._said: dict[str, str] = {}

    def show(self, deliveries: Sequence[Delivery]) -> None:
        """Print what has changed since the last call."""
        for each in deliveries:
            event, endpoint, attempts, status, answer, expected, mark = (cell.plain for cell in _row(each))
            said = f"{event} -> {endpoint}: {status}, attempt {attempts}, last answer {answer}"
            if mark:
                said = f"{said}; must end: {expected}: {mark}"
            if self._said.get(event) != said:
                self._said[event] = said
                self._screen.say(said)
