"""What an image says of itself, and where its program and interpreter are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from headrace.tools.image_smoke.exceptions import SmokeError

MAX_LINKS: Final = 40
"""More links than this on one path go in a circle, as the kernel judges too."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image.

    Attributes:
        id: The engine's name for it.
        entrypoint: The program and its first arguments.
        command: What follows where nothing else is given.
        user: Whom it runs as.
        ports: What it says that it listens on, such as `9101/tcp`.
        stop_signal: What asks it to end; SIGTERM where nothing is said.
        has_healthcheck: Whether it says how to probe it.
        size_bytes: Of all its layers.
        program: The name of the file that the entrypoint is, or leads to by links.
        interpreter: The Python that its program names in its first line.
    """

    id: str
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    user: str
    ports: tuple[str, ...]
    stop_signal: str
    has_healthcheck: bool
    size_bytes: int
    program: str
    interpreter: str

    @classmethod
    def read(cls, document: Mapping[str, Any], root: Path) -> Self:
        """Return the image of the engine's document.

        Args:
            document: What `podman inspect` tells.
            root: Where the image's files are.

        Raises:
            SmokeError: Its entrypoint is no Python program by an absolute path.
        """
        config = document["Config"]
        entrypoint = tuple(config.get("Entrypoint") or ())
        program = _program(entrypoint, root)
        return cls(
            id=document["Id"],
            entrypoint=entrypoint,
            command=tuple(config.get("Cmd") or ()),
            user=config.get("User", ""),
            ports=tuple(sorted(config.get("ExposedPorts") or ())),
            stop_signal=config.get("StopSignal") or "SIGTERM",
            has_healthcheck=bool(document.get("HealthCheck") or config.get("Healthcheck")),
            size_bytes=document["Size"],
            program=program.name,
            interpreter=_interpreter(entrypoint[0], program),
        )


def place_in(root: Path, path: str) -> PurePosixPath:
    """Return the path with every link on the way followed, as a process of the image would.

    Args:
        root: Where the image's files are; no link leads out of it.
        path: An absolute path of the image; it need not exist.

    Raises:
        SmokeError: Its links go in a circle.
    """
    done, todo, num_links = PurePosixPath("/"), list(PurePosixPath(path).parts[1:]), 0
    while todo:
        part = todo.pop(0)
        done = done.parent if part == ".." else done / part
        here = root / done.relative_to("/")
        if here.is_symlink():
            num_links += 1
            if num_links > MAX_LINKS:
                raise SmokeError(f"{path}: its links go in a circle")
            target = PurePosixPath(here.readlink())
            done = PurePosixPath("/") if target.is_absolute() else done.parent
            todo = [*(part for part in target.parts if part != "/"), *todo]
    return done


def file_in(root: Path, path: str) -> Path:
    """Return where a file of the image is on this machine; see `place_in`."""
    return root / place_in(root, path).relative_to("/")


def _program(entrypoint: tuple[str, ...], root: Path) -> Path:
    if not entrypoint or not entrypoint[0].startswith("/"):
        raise SmokeError(f"the entrypoint is {list(entrypoint)}, expected a program by its absolute path")
    program = file_in(root, entrypoint[0])
    if not program.is_file():
        raise SmokeError(f"the entrypoint {entrypoint[0]} is not in the image")
    return program


def _interpreter(entrypoint: str, program: Path) -> str:
    with program.open("rb") as file:
        first = file.readline(1000)
    if not first.startswith(b"#!") or b"python" not in first:
        raise SmokeError(f"the entrypoint {entrypoint} does not name a Python in its first line")
    return first[2:].decode().split()[0]
