"""`python -m headrace.tools.terraform_inputs`: write `workers.auto.tfvars.json`, or keep its JSON schema."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from headrace.tools.terraform_inputs.assembling import assemble
from headrace.tools.terraform_inputs.digests import read_digests
from headrace.tools.terraform_inputs.document import TerraformInputs
from headrace.tools.terraform_inputs.exceptions import TerraformInputsError
from headrace.tools.workers import WorkerDeclarationError, read_images

SCHEMA: Final = Path("deployment", "terraform", "workers.schema.json")


def main(argv: list[str] | None = None) -> int:
    """Write what the arguments ask for.

    Returns:
        0, or 1 after one sentence on standard error; nothing was written then.
    """
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (TerraformInputsError, WorkerDeclarationError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def inputs_text(root: Path, images: Path | None) -> str:
    """Return the text of `workers.auto.tfvars.json`; the same tree and digests give the same bytes.

    Args:
        root: The working tree.
        images: The file of digests, see `read_digests`; None leaves the digests null.

    Raises:
        TerraformInputsError, WorkerDeclarationError: The tree or the file cannot be deployed.
    """
    digests = read_digests(images) if images is not None else None
    return f"{assemble(read_images(root), digests).model_dump_json(indent=2)}\n"


def schema_text() -> str:
    """Return the JSON schema that every such file follows."""
    schema = TerraformInputs.model_json_schema()
    return f"{json.dumps({'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema}, indent=2)}\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m headrace.tools.terraform_inputs", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree (default: here)")
    parser.add_argument("--images", type=Path, help="JSON object of folder name to image digest")
    parser.add_argument("--output", type=Path, help="the file to write (default: standard output)")
    schema = parser.add_mutually_exclusive_group()
    schema.add_argument("--write-schema", action="store_true", help=f"write {SCHEMA} instead")
    schema.add_argument("--check", action="store_true", help=f"write nothing; exit 1 when {SCHEMA} is not true")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    file: Path = arguments.root / SCHEMA
    if arguments.write_schema:
        _write(file, schema_text())
    elif arguments.check:
        return _check(arguments.root, file)
    else:
        _write(arguments.output, inputs_text(arguments.root, arguments.images))
    return 0


def _check(root: Path, file: Path) -> int:
    inputs_text(root, None)
    if file.exists() and file.read_text(encoding="utf-8") == schema_text():
        return 0
    sys.stderr.write(f"{SCHEMA} does not match the inputs: run `make terraform-schema`\n")
    return 1


def _write(file: Path | None, text: str) -> None:
    if file is None:
        sys.stdout.write(text)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
