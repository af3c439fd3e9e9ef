"""TCP ports of the loopback interface."""

import socket

from headrace.tools.dev.exceptions import DevServerError

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Returns a port that was free a moment ago; another process may take it before the caller does."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def is_free(port: int) -> bool:
    """Tells whether a server could listen on the port of the loopback interface now."""
    with socket.socket() as probe:
        # As servers do: connections of a former server that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def claimed_port(requested: int | None, *, server: str) -> int:
    """Returns the requested port after checking it, or a free one when none was requested.

    Raises:
        DevServerError: Something else listens on the requested port.
    """
    if requested is None:
        return free_port()
    if not is_free(requested):
        raise DevServerError(
            f"Port {requested} is busy, so {server} cannot listen there; "
            "free the port, choose another or leave it unset."
        )
    return requested
