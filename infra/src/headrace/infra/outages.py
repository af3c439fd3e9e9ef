"""What a client remembers of a backend that is away: one line when it goes, one when it returns, a pause in between."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta


def root_error(error: BaseException) -> BaseException:
    """Return the first error that is no group, so that a log line names a cause and not a container."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class Outage:
    """The state of one backend as its client sees it; decides what is logged and whether trying is worth it.

    Args:
        backend: Name of the backend in log lines; must hold no credential.
        logger: Where the two lines of an outage go.
        pause: How long callers are spared after a failure; zero tries on every call.
        clock: Seconds on a clock that never goes back.
    """

    def __init__(
        self,
        backend: str,
        logger: logging.Logger,
        *,
        pause: timedelta = timedelta(0),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._logger = logger
        self._pause = pause.total_seconds()
        self._clock = clock
        self._num_failures = 0
        self._failed_at = 0.0

    def is_worth_trying(self) -> bool:
        """Tell whether the backend was well, or failed long enough ago to be asked again."""
        return self._num_failures == 0 or self._clock() - self._failed_at >= self._pause

    def failed(self, error: BaseException) -> None:
        """Note a failure; only the first of an outage is logged."""
        self._num_failures += 1
        self._failed_at = self._clock()
        if self._num_failures == 1:
            cause = root_error(error)
            self._logger.warning("%s is unreachable: %s: %s", self._backend, type(cause).__name__, cause)

    def recovered(self) -> None:
        """Note a success; logged when it ends an outage."""
        if self._num_failures:
            self._logger.info("%s is reachable again after %d failures", self._backend, self._num_failures)
            self._num_failures = 0
