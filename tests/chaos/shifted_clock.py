"""A wall clock that is wrong, for the whole of one process."""

import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import override


class _LikeDatetime(type):
    """Lets real datetimes pass for the class that stands in for theirs."""

    @override
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, datetime)


def shift_wall_clock(by: timedelta) -> None:
    """Make this process take the wall clock to be `by` ahead (behind when negative), from now on.

    Covers `time.time`, `time.time_ns` and `datetime.now` in every module of the platform that is imported by now.
    Monotonic clocks stay as they are, as they do on a machine whose wall clock is wrong.
    """
    time.time = _shifted(time.time, by.total_seconds())
    time.time_ns = _shifted(time.time_ns, by // timedelta(microseconds=1) * 1000)
    stand_in = _datetime_shifted(by)
    for name, module in list(sys.modules.items()):
        if name.startswith("headrace.") and getattr(module, "datetime", None) is datetime:
            module.datetime = stand_in  # type: ignore[attr-defined]  # whichever module it is


def _shifted[Number: (int, float)](read: Callable[[], Number], by: Number) -> Callable[[], Number]:
    return lambda: read() + by


def _datetime_shifted(by: timedelta) -> type[datetime]:
    class ShiftedDatetime(datetime, metaclass=_LikeDatetime):
        @classmethod
        @override
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # a plain one, as from the real
            return datetime.now(tz) + by

    return ShiftedDatetime
