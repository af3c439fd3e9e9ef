import io

import pytest
from rich.console import Console

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.tools.dev.deliveries import Delivery
from headrace.tools.dev.receiver import Receiver
from headrace.tools.dev.report import showing
from headrace.tools.dev.routes import ROUTES
from headrace.tools.dev.samples import Sample
from headrace.tools.dev.screen import Screen

BAD = next(route for route in ROUTES if route.name == "bad")


def screen(*, is_terminal: bool, width: int = 100) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=width, legacy_windows=False, highlight=False)
    return Screen(console), out


def delivery(status: WorkStatus, last_error: str | None = None, attempts: int = 1) -> Delivery:
    item = WorkItem(
        kind=WorkKind.DELIVER_WEBHOOK,
        origin="t",
        status=status,
        attempts=attempts,
        last_error=last_error,
        error_code="x",
    )
    return Delivery(Sample("a.b", b"{}"), BAD, "k", item)


@pytest.fixture
def dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


async def test_each_change_is_a_line_when_there_is_no_terminal() -> None:
    plain, out = screen(is_terminal=False)
    with showing(plain, Receiver()) as show:
        for status in (WorkStatus.QUEUED, WorkStatus.QUEUED, WorkStatus.CLAIMED):
            show([delivery(status)])
        show([delivery(WorkStatus.FAILED, "Refuse: the receiver answered 400: Bad")])
    queued, claimed, failed = out.getvalue().splitlines()
    assert "a.b -> /bad: queued" in queued
    assert "claimed" in claimed
    assert failed.endswith("last answer 400; must end: failed: refused: wrong")


@pytest.mark.usefixtures("dumb_terminal")
async def test_the_last_table_stays_on_a_terminal() -> None:
    terminal, out = screen(is_terminal=True)
    with showing(terminal, Receiver()) as show:
        show([delivery(WorkStatus.CLAIMED)])
        show([delivery(WorkStatus.FAILED, "DeliveryFailed: no answer in time (ReadTimeout)")])
    last = out.getvalue().rpartition("EVENT")[2]
    assert "no answer in time" in last
    assert "1 of 1 messages settled; 0 posts received, 0 signatures verified" in last


@pytest.mark.usefixtures("dumb_terminal")
async def test_a_table_fits_a_narrow_terminal() -> None:
    terminal, out = screen(is_terminal=True, width=40)
    with showing(terminal, Receiver()) as show:
        show([delivery(WorkStatus.QUEUED)])
    assert out.getvalue()


async def test_what_servers_say_cannot_steer_the_terminal() -> None:
    plain, out = screen(is_terminal=False)
    with showing(plain, Receiver()) as show:
        show([delivery(WorkStatus.FAILED, "X: [red]\x1b[2J")])
    assert "[red]" in out.getvalue()
    assert "\x1b" not in out.getvalue()
