"""What the generator leaves in a worker's folder about itself, so that the worker can be taken out again."""

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from headrace.tools.new_worker.exceptions import ConflictError
from headrace.tools.new_worker.tree import Tree

GENERATOR_VERSION: Final = 1
"""Counts up when the generator writes something else for the same arguments."""

MANIFEST_NAME: Final = ".new-worker.json"


class WorkerArguments(BaseModel):
    """What the developer asked for, in the words of the command line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    worker_name: str
    kind: str
    lane: str = "default"
    container: bool = False
    payload: tuple[str, ...] = ()


class Manifest(BaseModel):
    """One worker's manifest.

    Attributes:
        generator_version: The generator that wrote the worker.
        arguments: What it was asked for.
        metrics_port: The port that it chose.
        files: Every file that belongs to this worker alone, with the hash of what was written into it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator_version: int
    arguments: WorkerArguments
    metrics_port: int
    files: Mapping[str, str]

    @classmethod
    def read(cls, tree: Tree, worker_name: str) -> "Manifest | None":
        """Return the manifest of a worker, or None when the tree has no such worker or somebody else made it.

        Raises:
            ConflictError: There is one that cannot be read.
        """
        path = manifest_path(worker_name)
        text = tree.read(path)
        try:
            return None if text is None else cls.model_validate_json(text)
        except ValidationError as error:
            told = error.errors()[0]
            place = ".".join(map(str, told["loc"])) or "the whole"
            raise ConflictError(f"{path} cannot be read, {place}: {told['msg']}.") from None

    def text(self) -> str:
        """Return the file."""
        return self.model_dump_json(indent=2) + "\n"


def manifest_path(worker_name: str) -> PurePosixPath:
    """Return where a worker's manifest is."""
    return PurePosixPath("workers", worker_name, MANIFEST_NAME)


def hash_of(content: bytes) -> str:
    """Return the hash of a file as manifests write it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
