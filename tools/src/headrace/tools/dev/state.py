"""Where the local stack keeps its state: `.headrace/` of the working tree, or a folder that servers can reach.

Root's servers run as an unprivileged account. A clone below a home folder that is closed to others is out of that
account's reach, and opening somebody's home is not for a tool to do; the servers' state then goes to a folder of the
system's temporary directory, named after the clone, and `.headrace/servers` points there.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.privileges import Identity

STATE_DIRECTORY = ".headrace"
# Within the servers' folder: where tests keep theirs.
TEST_SERVERS = "tests"
# Others may pass through to what they own, not look around.
PASSABLE = 0o711


def state_directory(root: Path | None = None) -> Path:
    """Returns the state folder of the working tree that the caller stands in (or of `root`), making it if need be."""
    folder = (root or workspace_root()).resolve() / STATE_DIRECTORY
    folder.mkdir(exist_ok=True, mode=0o755)
    return folder


def workspace_root() -> Path:
    """Returns the nearest folder upwards that holds `uv.workspace` settings, or the current folder."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        project = folder / "pyproject.toml"
        if project.is_file() and "[tool.uv.workspace]" in project.read_text(encoding="utf-8"):
            return folder
    return here


def servers_directory(state: Path, identity: Identity) -> Path:
    """Returns a folder for servers' state that the account can pass through, making it if need be.

    Args:
        state: The state folder of the working tree.
        identity: Whom the servers run as.

    Raises:
        DevServerError: Somebody else owns the folder that would be used.
    """
    inside = state / "servers"
    if identity.enters(state):
        # An earlier run may have left a pointer, from before the tree was opened.
        if inside.is_symlink():
            inside.unlink()
        inside.mkdir(exist_ok=True)
        inside.chmod(PASSABLE)
        return inside
    outside = _temporary_directory_for(state)
    if not identity.enters(outside):
        raise DevServerError(
            f"The servers run as uid {identity.uid}, which reaches neither {state} nor {outside}; "
            "set TMPDIR to a folder that every account can enter, or run this as an ordinary user."
        )
    with suppress(FileExistsError):
        inside.symlink_to(outside)
    return outside


def _temporary_directory_for(state: Path) -> Path:
    name = hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"headrace-{name}")
    folder.mkdir(exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise DevServerError(f"{folder} belongs to somebody else, so the servers' state cannot go there; remove it.")
    folder.chmod(PASSABLE)
    return folder.resolve()
