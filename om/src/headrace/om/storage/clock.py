"""The clock that the memory implementations take for the database's."""

from collections.abc import Callable
from datetime import datetime

from headrace.om.base import utcnow

type Clock = Callable[[], datetime]
"""Returns the present instant, aware; tests hand in one that they move."""

wall_clock: Clock = utcnow
