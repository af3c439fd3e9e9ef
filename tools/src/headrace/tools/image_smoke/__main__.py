"""`python -m headrace.tools.image_smoke --archive FILE --worker NAME`: run an image and judge it."""

import argparse
import sys
from pathlib import Path

from headrace.tools.dev import DevServerError
from headrace.tools.image_smoke.exceptions import SmokeError
from headrace.tools.image_smoke.isolation import leave_the_network
from headrace.tools.image_smoke.smoke import Wish, run_smoke
from headrace.tools.workers import ImageDeclaration, WorkerDeclarationError, read_images


def main(argv: list[str] | None = None) -> int:
    """Run; return 0 when every check passed, 1 when one failed, 2 when the run could not be made."""
    arguments = _parser().parse_args(argv)
    try:
        declaration = _declaration(arguments.root, arguments.worker)
        wish = Wish(arguments.archive.resolve(strict=True), declaration, arguments.payload)
        leave_the_network()
        report = run_smoke(wish)
    except (SmokeError, DevServerError, WorkerDeclarationError, OSError) as error:
        sys.stderr.write(f"image_smoke: {error}\n")
        return 2
    sys.stdout.write(f"{len(report.lines)} lines, {report.num_failed} failed: {arguments.archive}\n")
    return 1 if report.num_failed else 0


def _declaration(root: Path, name: str) -> ImageDeclaration:
    images = {image.name: image for image in read_images(root)}
    if name not in images:
        raise SmokeError(f"--worker {name}: expected one of {', '.join(images)}, the folders below workers/")
    return images[name]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="image_smoke", description=__doc__)
    parser.add_argument("--archive", type=Path, required=True, help="the image, as `podman load` takes it")
    parser.add_argument("--worker", required=True, help="the worker that it holds: a folder's name below workers/")
    parser.add_argument("--payload", default="{}", help="what the item holds, as JSON, for a kind of your own")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree")
    return parser


if __name__ == "__main__":
    sys.exit(main())
