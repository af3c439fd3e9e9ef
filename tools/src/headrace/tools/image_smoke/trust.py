"""A TLS server on the loopback interface with a certificate of an authority that nobody knows but us."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, override

import trustme

from headrace.tools.dev.ports import LOOPBACK


@dataclass(frozen=True, slots=True)
class TlsServer:
    """A server that answers every request with 200.

    Attributes:
        port: Where it listens.
        authority: The certificate, as PEM, of the authority that vouches for it as `localhost`.
    """

    port: int
    authority: str


@contextmanager
def serving_tls() -> Iterator[TlsServer]:
    """Serve until the body is left."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    server = _QuietServer((LOOPBACK, 0), _Fine)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield TlsServer(server.server_port, authority.cert_pem.bytes().decode())


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Have a server serve in a thread until the body is left."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that do not believe us are what this is for."""


class _Fine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.end_headers()

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
