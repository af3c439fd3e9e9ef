"""The AWS provider's schema, trimmed to what is used here, and what a configuration does against it.

It stands in for the provider where that is not on the machine. `python -m tests.deployment.provider_schema FILE` trims
it anew from what `terraform providers schema -json` says.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.deployment.configuration import Block, Body, arguments, blocks, nested
from tests.deployment.repository import DEPLOYMENT

FILE: Final = Path(__file__).with_name("aws-schema.json")
PROVIDER: Final = "registry.terraform.io/hashicorp/aws"
TERRAFORM: Final = DEPLOYMENT / "terraform"

# Arguments and blocks that Terraform itself reads in every resource, whatever its type.
_META_ARGUMENTS: Final = frozenset({"count", "for_each", "depends_on", "provider"})
_META_BLOCKS: Final = frozenset({"lifecycle", "connection", "provisioner"})

type Schema = Mapping[str, Any]


def modules() -> list[Path]:
    """Return the folder of every module and environment."""
    return sorted({file.parent for file in TERRAFORM.glob("*/*/*.tf")})


def used_types() -> set[str]:
    """Return the types of all resources."""
    return {block.labels[0] for folder in modules() for block in blocks(folder, "resource")}


def trimmed(whole: Schema) -> dict[str, Any]:
    """Return the schema of the used types: which arguments and blocks there are, and which must be given."""
    schemas = whole["provider_schemas"][PROVIDER]["resource_schemas"]
    return {name: _trimmed(schemas[name]["block"]) for name in sorted(used_types())}


def kept() -> dict[str, Any]:
    """Return the schema that is kept beside this file."""
    schema: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return schema


def resource_problems(block: Block, schema: Schema) -> Iterator[str]:
    """Yield a sentence for each argument or block of a resource that the provider does not know, or misses."""
    kind, name = block.labels
    where = f"{block.file.name}: {kind}.{name}"
    if kind not in schema:
        yield f"{where}: the kept schema does not know the type"
        return
    yield from _problems(block.body, schema[kind], where, meta=True)


def module_problems(block: Block) -> Iterator[str]:
    """Yield a sentence for each argument of a module's call that the module does not know, or misses."""
    where = f"{block.file.name}: module.{block.labels[0]}"
    given = arguments(block.body)
    declared = {found.labels[0]: found.body for found in blocks(_source(block), "variable")}
    for name in given.keys() - declared.keys() - _META_ARGUMENTS - {"source"}:
        yield f"{where}: {name} is unknown"
    for name, body in declared.items():
        if "default" not in body and name not in given:
            yield f"{where}: {name} is missing"


def _source(block: Block) -> Path:
    return (block.file.parent / str(block.body["source"]).strip('"')).resolve()


def _trimmed(block: Schema) -> dict[str, Any]:
    settable = {
        name: bool(each.get("required"))
        for name, each in block.get("attributes", {}).items()
        if each.get("required") or each.get("optional")
    }
    inner = {
        name: {"min": each.get("min_items", 0), **_trimmed(each["block"])}
        for name, each in block.get("block_types", {}).items()
    }
    return {"arguments": settable, "blocks": inner} if inner else {"arguments": settable}


def _problems(body: Body, schema: Schema, where: str, *, meta: bool = False) -> Iterator[str]:
    known_blocks: Schema = schema.get("blocks", {})
    given, inner = arguments(body), list(nested(body))
    for name in given.keys() - schema["arguments"].keys() - (_META_ARGUMENTS if meta else set()):
        yield f"{where}: {name} is unknown"
    for name, is_required in schema["arguments"].items():
        if is_required and name not in given:
            yield f"{where}: {name} is missing"
    for name, each in known_blocks.items():
        if each["min"] and name not in {found for found, _ in inner}:
            yield f"{where}: the block {name} is missing"
    for name, content in inner:
        if name in known_blocks:
            yield from _problems(content, known_blocks[name], f"{where}.{name}")
        elif not (meta and name in _META_BLOCKS):
            yield f"{where}: the block {name} is unknown"


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    FILE.write_text(f"{json.dumps(trimmed(told), indent=1, sort_keys=True)}\n", encoding="utf-8")
