"""Which of several errors a person should read."""

from headrace.infra.exceptions import InfraException
from headrace.om.exceptions import PlatformException
from headrace.tools.dev.exceptions import DevServerError

WORDED = (DevServerError, PlatformException, InfraException)
"""Errors whose message is a sentence for the person at the terminal."""


def cause_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Returns one error out of a group of any depth: one that is worded for people where there is one."""
    error: BaseException = group.subgroup(WORDED) or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
