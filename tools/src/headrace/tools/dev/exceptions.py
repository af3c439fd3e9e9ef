"""The one error of the local stack."""


class DevServerError(Exception):
    """A server of the local stack cannot be found, started, reached or prepared.

    The message is one sentence for the person at the terminal: what is wrong and what to do about it. Nothing that
    the failed call started is left running.
    """


def reason_of(error: BaseException) -> str:
    """Returns why a connection failed, for the middle of a sentence: the first cause, in a few words."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    said = error.strerror if isinstance(error, OSError) else None
    return (said or str(error) or type(error).__name__).rstrip(".")
