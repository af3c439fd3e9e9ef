"""`python -m headrace.tools.sbom`: write the bill of materials of an image."""

import argparse
import sys
from pathlib import Path

from headrace.tools.sbom.bill import Parts, Subject, document, parts_of_closure, parts_of_environment, text_of
from headrace.tools.sbom.closure import read_closure
from headrace.tools.sbom.exceptions import BillError
from headrace.tools.sbom.locked import LockedPackage, read_locks


def main(argv: list[str] | None = None) -> int:
    """Write the bill; return 0, or 1 with a sentence on standard error."""
    arguments = _parser().parse_args(argv)
    try:
        parts = _parts(arguments, read_locks(arguments.lock))
        bill = document(Subject(arguments.name, arguments.version, arguments.source), parts)
        arguments.output.write_text(text_of(bill), encoding="ascii")
    except (BillError, OSError) as error:
        sys.stderr.write(f"sbom: {error}\n")
        return 1
    return 0


def _parts(arguments: argparse.Namespace, locked: dict[str, tuple[LockedPackage, ...]]) -> Parts:
    if arguments.closure is not None:
        parts = parts_of_closure(read_closure(arguments.closure), locked)
    else:
        parts = parts_of_environment(arguments.environment, locked)
    if not parts.components:
        raise BillError(f"{arguments.closure or arguments.environment} holds nothing that a bill could list")
    return parts


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sbom", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--closure", type=Path, help="the file `registration` of nixpkgs' closureInfo")
    what.add_argument("--environment", type=Path, help="the folder of an installed Python environment")
    parser.add_argument("--lock", type=Path, action="append", default=[], help="a file of the lock; give it for each")
    parser.add_argument("--name", required=True, help="the image's name")
    parser.add_argument("--version", required=True, help="the revision that it was built from")
    parser.add_argument("--source", help="where the source is to be had")
    parser.add_argument("--output", type=Path, required=True, help="the file to write")
    return parser


if __name__ == "__main__":
    sys.exit(main())
