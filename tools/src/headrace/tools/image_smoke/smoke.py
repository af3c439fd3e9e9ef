"""The run: an image is loaded, looked at, started, given work, probed, looked around in, and stopped."""

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final

from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.state import PASSABLE
from headrace.tools.dev.waiting import holds_within
from headrace.tools.image_smoke.container import Container
from headrace.tools.image_smoke.engine import Ended, Podman
from headrace.tools.image_smoke.exceptions import SmokeError
from headrace.tools.image_smoke.ground import Ground, ItemState, grounded
from headrace.tools.image_smoke.image import Image, file_in, place_in
from headrace.tools.image_smoke.recipes import Recipe, recipe_for
from headrace.tools.image_smoke.report import Report
from headrace.tools.image_smoke.trust import TlsServer, serving_tls
from headrace.tools.workers import ImageDeclaration

ACCOUNT: Final = "65532"
ITEM_PATIENCE: Final = timedelta(seconds=60)
READY_PATIENCE: Final = timedelta(seconds=90)
STOP_WINDOW: Final = timedelta(seconds=30)
PHRASE: Final = "Zürich → 東京 ✓"
MEBIBYTE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Wish:
    """What to run.

    Attributes:
        archive: The image.
        declaration: What it is to hold.
        payload: Of the item, as JSON, for kinds without a recipe.
    """

    archive: Path
    declaration: ImageDeclaration
    payload: str


def run_smoke(wish: Wish) -> Report:
    """Run an image and judge it; whatever was started is gone afterwards.

    Call it in a network of its own; see `leave_the_network`.

    Raises:
        SmokeError: The run cannot go on.
    """
    report = Report()
    with ExitStack() as stack:
        folder = stack.enter_context(_folder())
        podman = stack.enter_context(Podman(folder))
        reference = podman.load(wish.archive)
        root = podman.mount(reference)
        image = Image.read(podman.inspect(reference), root)
        judge_description(image, wish.declaration, report)
        server = stack.enter_context(serving_tls())
        look_inside(podman, image, root, server, report)
        ground = stack.enter_context(grounded(folder))
        worker = wish.declaration.worker
        if worker is None:
            judge_console(podman, image, ground, report)
        else:
            recipe = stack.enter_context(recipe_for(worker, ground, wish.payload))
            work(Container(podman, image, worker), ground, recipe, report)
    return report


def judge_description(image: Image, declaration: ImageDeclaration, report: Report) -> None:
    """Judge what the image says of itself."""
    worker = declaration.worker
    report.remark(f"{image.size_bytes / MEBIBYTE:.1f} MiB, {image.interpreter}")
    arguments, ports = ((), ()) if worker is None else (("serve",), (f"{worker.metrics_port}/tcp",))
    report.expect("the entrypoint is its program", image.program, declaration.program)
    report.expect("it serves where nothing else is asked", (*image.entrypoint[1:], *image.command), arguments)
    report.expect("it runs as an ordinary account by number", image.user.partition(":")[0], ACCOUNT)
    report.expect("it shows the metrics port alone", image.ports, ports)
    report.expect("it is asked to end by SIGTERM", image.stop_signal.removeprefix("SIG"), "TERM")


def look_inside(podman: Podman, image: Image, root: Path, server: TlsServer, report: Report) -> None:
    """Judge what a program finds in the image, with a server that its authorities do not know and then do."""
    found = _looked(podman.run(image.id, _inside(image, server, "unknown"), text=_program()), report)
    if found is None:
        return
    report.expect("text comes out as UTF-8", found["phrase"], PHRASE)
    bundle = file_in(root, found["bundle"])
    if not bundle.is_file():
        report.judge("the bundle of authorities is there", f"{found['bundle']} is no file")
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".pem") as file:
        file.write(bundle.read_text(encoding="utf-8") + server.authority)
        file.flush()
        Path(file.name).chmod(0o644)
        volume = f"{file.name}:{place_in(root, found['bundle'])}:ro"
        _looked(podman.run(image.id, _inside(image, server, "trusted"), text=_program(), volumes=[volume]), report)


def judge_console(podman: Podman, image: Image, ground: Ground, report: Report) -> None:
    """Judge the operators' program, the one image that is no worker: it must have what migrations need."""
    ended = podman.run(image.id, [*image.entrypoint, "migrate", "--check"], environment=ground.urls.environment())
    said = f"{ended.exit_code}: {ended.output}{ended.complaint}"
    report.judge("it finds the schemas as its own migrations leave them", None if ended.exit_code == 0 else said)


def work(container: Container, ground: Ground, recipe: Recipe, report: Report) -> None:
    """Judge a worker from its start to its end."""
    container.start({**ground.environment(), **recipe.environment})
    if not holds_within(lambda: container.answers("/readyz") or not container.is_running(), READY_PATIENCE):
        raise SmokeError(f"the worker was not ready within {READY_PATIENCE}: {container.log()}")
    report.judge("it starts against PostgreSQL", None if container.is_running() else container.log())
    if not container.is_running():
        return
    report.judge("it answers /healthz", None if container.answers("/healthz") else container.log())
    report.judge("its metrics are served", None if container.answers("/metrics") else container.log())
    report.judge("its process is confined", container.confinement_problem())
    report.judge("it does an item", _item_problem(container.kind, ground, recipe, container))
    report.judge("the outside saw the item done", recipe.arrived())
    report.judge("its healthcheck says that it is well", container.healthcheck_problem())
    _judge_stop(container, report)


def _judge_stop(container: Container, report: Report) -> None:
    began = time.monotonic()
    code = container.stop(STOP_WINDOW)
    report.expect("SIGTERM drains it, and it ends with 0", code, 0)
    report.remark(f"stopped in {time.monotonic() - began:.1f} s")
    if code != 0:
        report.remark(container.log())


def _item_problem(kind: str, ground: Ground, recipe: Recipe, container: Container) -> str | None:
    """Have an item enqueued and wait for its end; return what is wrong with that."""
    recipe.enqueue()
    if not holds_within(lambda: _settled(ground, kind) is not None, ITEM_PATIENCE):
        return f"within {ITEM_PATIENCE} it came to {ground.items(kind)}; {container.log()}"
    item = _settled(ground, kind)
    return None if item is not None and item.status == "done" else f"{item}; {container.log()}"


def _settled(ground: Ground, kind: str) -> ItemState | None:
    return next((item for item in ground.items(kind) if item.status in {"done", "failed", "cancelled"}), None)


def _inside(image: Image, server: TlsServer, judgement: str) -> list[str]:
    return [image.interpreter, "-", str(server.port), judgement]


def _program() -> str:
    return (resources.files("headrace.tools.image_smoke") / "inside.py").read_text(encoding="utf-8")


def _looked(ended: Ended, report: Report) -> dict[str, Any] | None:
    """Judge each look of one run; return what it told, or None where it told nothing."""
    if ended.exit_code != 0:
        report.judge("its interpreter runs a program", ended.complaint.strip()[-2000:])
        return None
    line, _, phrase = ended.output.partition("\n")
    found: dict[str, Any] = {**json.loads(line), "phrase": phrase.strip()}
    for look in found["looks"]:
        report.judge(f"inside: {look}", found["problems"].get(look))
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a folder that the account of local servers can pass through."""
    with tempfile.TemporaryDirectory(prefix="headrace-smoke-") as name:
        folder = Path(name)
        folder.chmod(PASSABLE)
        if not server_identity().enters(folder):
            raise SmokeError(f"{folder} is out of reach for the servers' account: set TMPDIR to a folder that is open")
        yield folder
