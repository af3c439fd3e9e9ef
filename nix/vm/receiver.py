"""A receiver of webhooks whose answers the scenario steers: `python3 receiver.py PORT`.

`POST /ok/...` is answered at once, `POST /slow/...` after a moment, `POST /gate/...` once the gate is open.
`PUT /control/open` and `PUT /control/shut` move the gate; `GET /control/posts` tells what came in.
"""

import json
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, override

LOOPBACK: Final = "127.0.0.1"
SLOW_SECONDS: Final = 0.3
GATE_SECONDS: Final = 60.0
"""How long a post waits for the gate; longer than a worker waits for an answer."""


class Book:
    """What came in, and the gate; shared by the threads that answer."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()
        self._posts: list[dict[str, Any]] = []

    def begin(self, webhook_id: str, path: str) -> dict[str, Any]:
        """Write down that a post came in; return its entry."""
        entry = {"id": webhook_id, "path": path, "answered": False}
        with self._lock:
            self._posts.append(entry)
        return entry

    def document(self) -> dict[str, Any]:
        """Return every post so far, in the order in which they came in."""
        with self._lock:
            return {"posts": [dict(entry) for entry in self._posts]}


class ReceiverHandler(BaseHTTPRequestHandler):
    """Answers one connection."""

    book: Book

    def do_POST(self) -> None:
        """Take a webhook."""
        self.rfile.read(int(self.headers.get("content-length", "0")))
        entry = self.book.begin(self.headers.get("webhook-id", ""), self.path)
        if self.path.startswith("/slow/"):
            time.sleep(SLOW_SECONDS)
        if self.path.startswith("/gate/") and not self.book.gate.wait(GATE_SECONDS):
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        entry["answered"] = True
        self._answer(HTTPStatus.OK)

    def do_PUT(self) -> None:
        """Move the gate."""
        if self.path == "/control/open":
            self.book.gate.set()
        elif self.path == "/control/shut":
            self.book.gate.clear()
        self._answer(HTTPStatus.OK)

    def do_GET(self) -> None:
        """Tell what came in."""
        self._answer(HTTPStatus.OK, json.dumps(self.book.document()).encode())

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the book holds what is of interest."""

    def _answer(self, status: HTTPStatus, body: bytes = b"{}") -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class QuietServer(ThreadingHTTPServer):
    """A server to which a client that hangs up is nothing to tell."""

    daemon_threads = True

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def main() -> None:
    """Serve until the process is ended."""
    handler = type("BoundHandler", (ReceiverHandler,), {"book": Book()})
    QuietServer((LOOPBACK, int(sys.argv[1])), handler).serve_forever()


if __name__ == "__main__":
    main()
