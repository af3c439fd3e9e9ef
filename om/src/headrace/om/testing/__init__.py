"""Helpers for tests of code that enqueues work, and of handlers. Refused outside of tests.

Each one is a context manager that counts for its body alone: for the present task and the tasks that it starts, so that
tests which run at once do not see each other's. `docs/testing-your-handlers.md` shows them at work.
"""

from headrace.om.testing.capturing import CapturedWork, captured_work
from headrace.om.testing.draining import drain
from headrace.om.testing.ignoring import ignore_bundles, ignore_work
from headrace.om.testing.inline import InlineWork, inline_work
from headrace.om.testing.running import Ran

__all__ = [
    "CapturedWork",
    "InlineWork",
    "Ran",
    "captured_work",
    "drain",
    "ignore_bundles",
    "ignore_work",
    "inline_work",
]
