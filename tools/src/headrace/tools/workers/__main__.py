"""`python -m headrace.tools.workers [--json] [--root DIR]`: list the workers and the images of the working tree."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from headrace.tools.workers.declaration import WorkerDeclaration
from headrace.tools.workers.exceptions import WorkerDeclarationError
from headrace.tools.workers.reading import ImageDeclaration, read_images


def main(argv: list[str] | None = None) -> int:
    """Print one line a worker, or everything as JSON.

    Returns:
        0, or 1 after one sentence on standard error.
    """
    parser = argparse.ArgumentParser(prog="python -m headrace.tools.workers", description=__doc__)
    parser.add_argument("--json", action="store_true", help="workers and images as one line of JSON, for programs")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree (default: here)")
    given = parser.parse_args(argv)
    try:
        images = read_images(given.root)
    except WorkerDeclarationError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(_json(images) if given.json else _lines(images))
    return 0


def _json(images: Iterable[ImageDeclaration]) -> str:
    listed = tuple(images)
    document = {
        "workers": [_worker(image.worker) for image in listed if image.worker is not None],
        "images": [
            {"name": each.name, "image": each.image, "program": each.program, "distribution": each.distribution}
            for each in listed
        ],
    }
    return f"{json.dumps(document)}\n"


def _worker(worker: WorkerDeclaration) -> dict[str, object]:
    return {**asdict(worker), "package": worker.package, "image": worker.image}


def _lines(images: Iterable[ImageDeclaration]) -> str:
    return "".join(f"{_line(image.worker)}\n" for image in images if image.worker is not None)


def _line(worker: WorkerDeclaration) -> str:
    return (
        f"{worker.name}: {worker.kind} from lane {worker.lane}, port {worker.metrics_port},"
        f" {worker.cpu} CPU shares, {worker.memory} MiB"
    )


if __name__ == "__main__":
    sys.exit(main())
