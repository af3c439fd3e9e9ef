"""The container engine: podman with a storage of its own, which is gone with the run."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from headrace.tools.image_smoke.exceptions import SmokeError
from headrace.tools.image_smoke.isolation import network_path

LOAD_SECONDS: Final = 300
COMMAND_SECONDS: Final = 60

# The container joins the network that podman itself is in, where a runtime lets nobody set the usual sysctl.
SETTINGS: Final = "[containers]\ndefault_sysctls = []\n"

TEMPORARY: Final = "/tmp:rw,nosuid,nodev,noexec,mode=1777,size=64m"  # noqa: S108 - where every platform mounts it
CONFINED: Final = (
    *("--read-only", "--read-only-tmpfs=false", "--tmpfs", TEMPORARY),
    *("--cap-drop", "all", "--security-opt", "no-new-privileges"),
    *("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=512:512", "--ulimit", "core=0:0"),
)
"""What a container may not do: write anywhere but to /tmp, gain anything, or open files without end."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int
    output: str
    complaint: str


class Podman:
    """Podman over a storage below a folder. Use it as a context: leaving it removes the containers.

    Args:
        folder: An empty folder.

    Raises:
        SmokeError: There is no podman on this machine.
    """

    def __init__(self, folder: Path) -> None:
        found = shutil.which("podman")
        if found is None:
            raise SmokeError("podman was not found on PATH: install it (Debian: apt install podman runc)")
        runtime = ("--runtime", "runc") if shutil.which("runc") else ()
        storage = ("--root", str(folder / "storage"), "--runroot", str(folder / "run"))
        self._argv = (found, *runtime, "--cgroup-manager", "cgroupfs", *storage)
        self._settings = folder / "containers.conf"
        self._settings.write_text(SETTINGS, encoding="ascii")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.ask("rm", "--all", "--force", "--time", "0")
        self.ask("image", "unmount", "--all", "--force")

    def load(self, archive: Path) -> str:
        """Load the one image of an archive; return its id."""
        self.tell("load", "--quiet", "--input", str(archive), within=LOAD_SECONDS)
        ids = self.tell("images", "--quiet", "--no-trunc").split()
        if len(set(ids)) != 1:
            raise SmokeError(f"{archive} holds {len(set(ids))} images, expected one")
        return ids[0]

    def inspect(self, thing: str) -> dict[str, Any]:
        """Return what the engine knows of an image or a container."""
        (found,) = json.loads(self.tell("inspect", thing))
        document: dict[str, Any] = found
        return document

    def mount(self, image: str) -> Path:
        """Return where the image's files can be read from outside."""
        return Path(self.tell("image", "mount", image).strip())

    def start(self, image: str, *arguments: str, environment: Mapping[str, str], name: str) -> None:
        """Start a container, confined and in this process's network; return at once."""
        self.tell("run", "--detach", "--name", name, *_options(environment, ()), image, *arguments)

    def run(
        self,
        image: str,
        program: Sequence[str],
        *,
        text: str = "",
        environment: Mapping[str, str] | None = None,
        volumes: Sequence[str] = (),
    ) -> Ended:
        """Run another program of the image, confined likewise, with a text on its standard input, to its end."""
        options = ("--no-healthcheck", *_options(environment or {}, volumes), "--entrypoint", json.dumps([program[0]]))
        return self.ask("run", "--rm", "--interactive", *options, image, *program[1:], text=text)

    def ask(self, *arguments: str, text: str = "", within: float = COMMAND_SECONDS) -> Ended:
        """Run an engine's command; return how it ended.

        Raises:
            SmokeError: It did not end in time.
        """
        try:
            done = subprocess.run(  # noqa: S603 - fixed argv, no shell
                [*self._argv, *arguments],
                input=text,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=within,
                env=self._environment(),
            )
        except subprocess.TimeoutExpired as error:
            raise SmokeError(f"podman {arguments[0]} did not end within {within:g} s") from error
        return Ended(done.returncode, done.stdout, done.stderr)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADRACE_")}
        return kept | {"CONTAINERS_CONF": str(self._settings)}

    def tell(self, *arguments: str, within: float = COMMAND_SECONDS) -> str:
        """Run an engine's command that must succeed; return its output.

        Raises:
            SmokeError: It failed.
        """
        ended = self.ask(*arguments, within=within)
        if ended.exit_code != 0:
            raise SmokeError(f"podman {arguments[0]} failed: {ended.complaint.strip()}")
        return ended.output


def _options(environment: Mapping[str, str], volumes: Sequence[str]) -> list[str]:
    variables = [part for name, value in environment.items() for part in ("--env", f"{name}={value}")]
    mounts = [part for volume in volumes for part in ("--volume", volume)]
    return [*CONFINED, "--network", f"ns:{network_path()}", *variables, *mounts]
