"""How each kind of worker is given an item that it can do."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, override

from headrace.tools.dev.ports import LOOPBACK
from headrace.tools.image_smoke.ground import Ground
from headrace.tools.image_smoke.trust import serving
from headrace.tools.workers import WorkerDeclaration

SIGNING_SECRET: Final = "whsec_aW1hZ2Utc21va2UtaW1hZ2Utc21va2UtaW1hZ2U="  # noqa: S105 - of a throwaway org
EVENT: Final = "smoke.sent"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a worker is told beyond its servers, and how it is given an item.

    Attributes:
        environment: Variables of the worker.
        enqueue: Gives it an item, the only one of its kind.
        arrived: Says what is wrong with what the outside saw of the item's handling; None when nothing is.
    """

    enqueue: Callable[[], None]
    environment: Mapping[str, str] = field(default_factory=dict)
    arrived: Callable[[], str | None] = lambda: None


def recipe_for(worker: WorkerDeclaration, ground: Ground, payload: str) -> AbstractContextManager[Recipe]:
    """Return what to do for a worker's kind; what it needs is there within the context.

    Args:
        worker: For what.
        ground: Where it works.
        payload: What the item holds, as JSON, where the kind has no recipe of its own.
    """
    if worker.kind == "DELIVER_WEBHOOK":
        return _webhook(ground)
    return _plain(worker, ground, payload)


@contextmanager
def _plain(worker: WorkerDeclaration, ground: Ground, payload: str) -> Iterator[Recipe]:
    def enqueue() -> None:
        ground.ask("work", "enqueue", worker.kind, "--lane", worker.lane, "--payload", payload)

    yield Recipe(enqueue)


@contextmanager
def _webhook(ground: Ground) -> Iterator[Recipe]:
    name, ids = f"org_{ground.org_id.replace('-', '')}_smoke", list[str]()
    handler = type("BoundReceiver", (_Receiver,), {"ids": ids})
    server = ThreadingHTTPServer((LOOPBACK, 0), handler)

    def enqueue() -> None:
        url = f"http://{LOOPBACK}:{server.server_port}/hook"
        ground.ask("webhooks", "endpoint", "add", url, "--event", EVENT, "--secret-reference", f"env:{name}")
        ground.ask("webhooks", "publish", "--event", EVENT, "--data", json.dumps({"greeting": "Grüße"}))

    environment = {
        f"HEADRACE_SECRET_{name}": SIGNING_SECRET,
        "HEADRACE_WEBHOOK_DISPATCHER_ALLOWED_NETWORKS": json.dumps([f"{LOOPBACK}/32"]),
    }
    with serving(server):
        yield Recipe(enqueue, environment, lambda: None if len(ids) == 1 and ids[0] else f"webhooks came in: {ids}")


class _Receiver(BaseHTTPRequestHandler):
    ids: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.ids.append(self.headers.get("webhook-id", ""))
        self.send_response(HTTPStatus.NO_CONTENT)
        self.end_headers()

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
