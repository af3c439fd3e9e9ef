"""An image made of this machine's own Python and libraries: it needs no registry, and faults can be planted in it."""

import hashlib
import importlib.metadata
import io
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = "/venv/bin/python3"
PACKAGES: Final = f"/venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
BUNDLE: Final = "/etc/ssl/certs/ca-certificates.crt"
NOT_NEEDED: Final = re.compile(
    r"/(test|tests|idlelib|tkinter|turtledemo|ensurepip|lib2to3|config-[^/]*|__pycache__)(/|$)"
)


@dataclass(slots=True)
class Contents:
    """What goes into an image.

    Attributes:
        files: By their path in the image: where they are here, or what is in them.
        links: By their path in the image: where they lead.
        config: As an image has it.
    """

    files: dict[str, Path | bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


def worker_contents(name: str) -> Contents:
    """Return an image of a worker of this tree as it should be."""
    project = importlib.metadata.distribution(f"headrace-{name}")
    (script,) = (point for point in project.entry_points if point.group == "console_scripts")
    contents = Contents()
    contents.files |= dict(_interpreter())
    contents.files |= dict(_packages(f"headrace-{name}"))
    contents.files |= {str(library): library for library in _libraries(contents.files.values())}
    contents.files |= dict(_tree(Path("/usr/share/zoneinfo"), "/usr/share/zoneinfo"))
    contents.files[BUNDLE] = Path(BUNDLE)
    contents.files["/etc/passwd"] = b"headrace:x:65532:65532::/tmp:/none\n"
    contents.files[f"/venv/bin/{script.name}"] = _program(script.module, script.attr)
    # As the Dockerfiles have it: one name in every image, which leads to the program.
    contents.links["/venv/bin/worker"] = script.name
    contents.links[PYTHON] = sys.base_prefix + f"/bin/{Path(sys.executable).resolve().name}"
    contents.files["/venv/pyvenv.cfg"] = f"home = {sys.base_prefix}/bin\n".encode()
    contents.config = {
        "Entrypoint": ["/venv/bin/worker"],
        "Cmd": ["serve"],
        "User": "65532:65532",
        "WorkingDir": "/tmp",  # noqa: S108 - of the image
        "Env": ["PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1", f"SSL_CERT_FILE={BUNDLE}"],
        "StopSignal": "SIGTERM",
        "ExposedPorts": {f"{_port(name)}/tcp": {}},
    }
    return contents


def write_archive(contents: Contents, archive: Path) -> None:
    """Write the image as `podman load` takes it. Source: Docker Image Specification v1.2.0, "Combined Image JSON"."""
    layer = archive.with_suffix(".layer")
    with tarfile.open(layer, "w") as tar:
        for folder in sorted(_folders([*contents.files, *contents.links])):
            _add_folder(tar, folder)
        for path, source in contents.files.items():
            _add_file(tar, path, source)
        for path, target in contents.links.items():
            _add_link(tar, path, target)
    with layer.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    image = {"architecture": "amd64", "os": "linux", "config": contents.config}
    image |= {"rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}
    manifest = [{"Config": "config.json", "RepoTags": ["localhost/host:test"], "Layers": ["layer.tar"]}]
    with tarfile.open(archive, "w") as tar:
        _add_file(tar, "config.json", json.dumps(image).encode())
        _add_file(tar, "manifest.json", json.dumps(manifest).encode())
        tar.add(layer, "layer.tar")
    layer.unlink()


def _interpreter() -> Iterator[tuple[str, Path]]:
    program = Path(sys.executable).resolve()
    yield f"{sys.base_prefix}/bin/{program.name}", program
    standard = Path(sysconfig.get_path("stdlib"))
    for path, source in _tree(standard, str(standard)):
        if "/site-packages/" not in path and not NOT_NEEDED.search(path):
            yield path, source


def _packages(distribution: str) -> Iterator[tuple[str, Path]]:
    """Give the files of a distribution and of everything that it needs."""
    todo, done = [Requirement(distribution)], set[str]()
    while todo:
        wanted = todo.pop()
        if str(wanted) in done:
            continue
        done.add(str(wanted))
        found = importlib.metadata.distribution(wanted.name)
        todo += [each for each in map(Requirement, found.requires or ()) if _applies(each, wanted.extras)]
        yield from _files(found)


def _applies(needed: Requirement, extras: set[str]) -> bool:
    return needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _files(found: importlib.metadata.Distribution) -> Iterator[tuple[str, Path]]:
    for file in found.files or ():
        path = str(file)
        if not path.startswith("..") and "__pycache__" not in path and not path.endswith(".pth"):
            yield f"{PACKAGES}/{path}", Path(str(found.locate_file(file)))
    if found.metadata["Name"].startswith("headrace-"):
        yield from _sources(found.metadata["Name"])


def _sources(name: str) -> Iterator[tuple[str, Path]]:
    """Give a member's package: it is installed as a pointer to the tree."""
    member = name.removeprefix("headrace-").removeprefix("worker-")
    folder = next(each for each in (ROOT / member, ROOT / "workers" / member) if each.is_dir())
    for path, source in _tree(folder / "src", PACKAGES):
        if "__pycache__" not in path:
            yield path, source
    if (folder / "migrations").is_dir():
        yield from (
            (path, source) for path, source in _tree(folder / "migrations", f"{PACKAGES}/headrace/om/migrations")
        )


def _tree(folder: Path, target: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"{target}/{path.relative_to(folder)}", path


def _libraries(sources: Iterable[Path | bytes]) -> set[Path]:
    """Return the shared libraries that programs and extension modules need, as the loader finds them here."""
    binaries = [str(each) for each in sources if isinstance(each, Path) and _is_binary(each)]
    done = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False)  # noqa: S603, S607 - fixed
    return {Path(found) for found in re.findall(r"(?:=> |^\t)(/\S+)", done.stdout, re.MULTILINE)}


def _is_binary(path: Path) -> bool:
    if ".so" not in path.name and path.parent.name != "bin":
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _program(module: str, function: str) -> bytes:
    return f"#!{PYTHON}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n".encode()


def _port(name: str) -> int:
    text = (ROOT / "workers" / name / "pyproject.toml").read_text(encoding="utf-8")
    (port,) = re.findall(r"^metrics_port = (\d+)$", text, re.MULTILINE)
    return int(port)


def _folders(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in Path(path).parents if str(parent) != "/"} | {"/tmp"}  # noqa: S108 - of the image


def _add_folder(tar: tarfile.TarFile, path: str) -> None:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if path == "/tmp" else 0o755  # noqa: S108 - of the image
    tar.addfile(entry)


def _add_file(tar: tarfile.TarFile, path: str, source: Path | bytes) -> None:
    content = source if isinstance(source, bytes) else source.read_bytes()
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.size, entry.mode = len(content), 0o755
    tar.addfile(entry, io.BytesIO(content))


def _add_link(tar: tarfile.TarFile, path: str, target: str) -> None:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def without(contents: Contents, pattern: str) -> None:
    """Take files out of an image."""
    contents.files = {path: source for path, source in contents.files.items() if not re.search(pattern, path)}


def in_environment(contents: Contents, variables: Mapping[str, str]) -> None:
    """Set variables of an image."""
    kept = [each for each in contents.config["Env"] if each.partition("=")[0] not in variables]
    contents.config["Env"] = [*kept, *(f"{name}={value}" for name, value in variables.items())]
