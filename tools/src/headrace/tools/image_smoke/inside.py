"""What runs inside an image, by its own interpreter, fed on standard input: looks around and tells what it found.

It writes a line of JSON and then a phrase. It stands alone: nothing of ours is imported. One argument each: the port
of a TLS server, and how its certificate is to be judged, `trusted` or `unknown`. Any failure is told under the name of
what was looked at.
"""

import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import socket
import ssl
import stat
import sys
import tempfile
import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

PHRASE = "Zürich → 東京 ✓"
MIN_AUTHORITIES = 50
TEMPORARY = Path("/tmp")  # noqa: S108 - where every platform mounts it
FOR_EVERYBODY = 0o1777
# Modules that are entry points of others, or for systems and interpreters that this is not.
NO_MODULE = ("__main__", "__init__")


def certificates() -> None:
    """The bundle of authorities is there and large."""
    context = ssl.create_default_context()
    number = context.cert_store_stats()["x509_ca"]
    if number < MIN_AUTHORITIES:
        raise AssertionError(f"{number} authorities are known, expected at least {MIN_AUTHORITIES}")


def tls(port: int, judgement: str) -> None:
    """A server is believed exactly when the bundle vouches for it."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            secured.sendall(b"GET / HTTP/1.0\r\n\r\n")
            believed = secured.recv(1000).startswith(b"HTTP/")
    except ssl.SSLCertVerificationError:
        believed = False
    if believed != (judgement == "trusted"):
        raise AssertionError(f"a server whose certificate is {judgement} was {'' if believed else 'not '}believed")


def other_name(port: int) -> None:
    """A certificate for another name is refused, whoever signed it."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            ssl.create_default_context().wrap_socket(plain, server_hostname="elsewhere.invalid").close()
    except ssl.SSLCertVerificationError:
        return
    raise AssertionError("a certificate for another name was believed")


def zones() -> None:
    """A zone with summer time is known, with its offsets."""
    zone = zoneinfo.ZoneInfo("America/New_York")
    offsets = [datetime(2026, month, 1, tzinfo=UTC).astimezone(zone).utcoffset() for month in (1, 7)]
    if offsets != [timedelta(hours=-5), timedelta(hours=-4)]:
        raise AssertionError(f"New York is at {offsets} in January and July")


def utf8() -> None:
    """Text is UTF-8 wherever it comes and goes."""
    found = (sys.flags.utf8_mode, sys.stdout.encoding, sys.getfilesystemencoding())
    if found != (1, "utf-8", "utf-8"):
        raise AssertionError(f"UTF-8 mode and encodings are {found}")


def temporary_files() -> None:
    """The folder for temporary files takes everybody's."""
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8", prefix="ü-") as file:
        file.write(PHRASE)
        file.seek(0)
        if file.read() != PHRASE or Path(file.name).parent != TEMPORARY:
            raise AssertionError(f"{file.name} does not hold what was written")
    mode = stat.S_IMODE(TEMPORARY.stat().st_mode)
    if mode != FOR_EVERYBODY:
        raise AssertionError(f"{TEMPORARY} has mode {mode:o}")


def nothing_else_is_writable() -> None:
    """No other folder can be written to."""
    writable = []
    for folder in ("/", "/etc", "/usr", "/var", "/nix", "/app", "/opt", str(Path(sys.prefix)), str(Path.cwd())):
        if Path(folder).is_dir() and not Path(folder).is_relative_to(TEMPORARY):
            with contextlib.suppress(OSError):
                Path(folder, f"written-{os.getpid()}").write_text("", encoding="ascii")
                writable.append(folder)
    if writable:
        raise AssertionError(f"these can be written to: {writable}")


def account() -> None:
    """The process is an ordinary account without capabilities, which it cannot gain either."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    found = {name: status[name].split()[0] for name in ("Uid", "Gid", "CapEff", "CapPrm", "CapBnd", "NoNewPrivs")}
    expected = {"Uid": "65532", "Gid": "65532", "CapEff": "0" * 16, "CapPrm": "0" * 16, "CapBnd": "0" * 16}
    if found != {**expected, "NoNewPrivs": "1"}:
        raise AssertionError(f"the process is {found}")


def modules() -> None:
    """Every top-level module of every distribution, and every compiled one, can be imported."""
    failed = {}
    for name in sorted(top_levels() | compiled()):
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - whatever a module raises, it cannot be imported
            failed[name] = f"{type(error).__name__}: {error}"
    if failed:
        raise AssertionError(f"these cannot be imported: {failed}")


def top_levels() -> set[str]:
    """Return the names of packages and modules that distributions bring."""
    names = importlib.metadata.packages_distributions()
    return {name for name in names if name.isidentifier() and name not in NO_MODULE}


def compiled() -> set[str]:
    """Return the dotted names of extension modules, those of tests apart: the ones that need shared libraries."""
    names = set()
    for folder in {Path(path) for path in sys.path if path.endswith("site-packages")}:
        for file in folder.rglob("*.so"):
            parts = (*file.relative_to(folder).parts[:-1], file.name.split(".")[0])
            if all(part.isidentifier() and part != "tests" for part in parts):
                names.add(".".join(parts))
    return names


def main(port: int, judgement: str) -> None:
    """Look at everything; write what failed. Where the server is trusted, only what that changes is looked at."""
    looks = {f"tls-{judgement}": partial(tls, port, judgement), "tls-other-name": partial(other_name, port)}
    if judgement != "trusted":
        looks |= {look.__name__.replace("_", "-"): partial(look) for look in ALONE}
    problems = {}
    for name, look in looks.items():
        try:
            look()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            problems[name] = f"{type(error).__name__}: {error}"
    paths = ssl.get_default_verify_paths()
    bundle = os.environ.get("SSL_CERT_FILE") or paths.cafile or paths.openssl_cafile
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    print(json.dumps({"looks": list(looks), "problems": problems, "bundle": bundle}))  # noqa: T201 - it is a program
    print(PHRASE)  # noqa: T201 - likewise


ALONE = (certificates, zones, utf8, temporary_files, nothing_else_is_writable, account, modules)

main(int(sys.argv[1]), sys.argv[2])
