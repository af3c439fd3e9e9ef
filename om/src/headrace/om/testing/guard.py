"""What keeps the helpers out of processes that serve."""

import os
from typing import ClassVar, Final

from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.exceptions import PreconditionFailed

_RUNNER: Final = "PYTEST_CURRENT_TEST"
"""Set by pytest while a test runs. Source: pytest, "PYTEST_CURRENT_TEST environment variable"."""

_ENVIRONMENT: Final = "HEADRACE_ENVIRONMENT"


class OutsideOfTests(PreconditionFailed):
    """A helper for tests was used in a process that runs none: work would be lost."""

    code: ClassVar[str] = "outside_of_tests"


def refuse_outside_of_tests(helper: str) -> None:
    """Return when a test is running.

    Raises:
        OutsideOfTests: Neither pytest runs one, nor does the environment say that it is for tests.
    """
    if _RUNNER not in os.environ and os.environ.get(_ENVIRONMENT) != "test":
        raise OutsideOfTests(
            f"{helper} is for tests alone: work would not reach the queue; set {_ENVIRONMENT}=test where another"
            " runner than pytest runs them"
        )


def new_request() -> RequestContext:
    """Return the request stage of what a helper does."""
    return RequestContext(app=AppContext(type=AppType.TEST, version="headrace.om.testing@0"))
