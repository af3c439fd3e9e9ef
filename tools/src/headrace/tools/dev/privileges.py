"""Whom the servers run as: the developer, or an unprivileged account when the developer is root.

PostgreSQL refuses to run as root. Its `initdb` also refuses a uid without a name, so the account is `nobody`, which
every system has; no account is added. That account must be able to reach the data and the programs, which it cannot
below a home folder closed to others: see `headrace.tools.dev.state`.
"""

import os
import pwd
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from headrace.tools.dev.exceptions import DevServerError

UNPRIVILEGED_ACCOUNT = "nobody"


class PopenIdentity(TypedDict, total=False):
    """The arguments of `subprocess.Popen` that change who a child is."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Identity:
    """An account that servers run as.

    Attributes:
        uid: User id.
        gid: Group id.
        is_dropped: Whether this differs from the calling process, which is root then.
    """

    uid: int
    gid: int
    is_dropped: bool

    def popen_arguments(self) -> PopenIdentity:
        """Returns what makes a child process run as this account, without supplementary groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.is_dropped else {}

    def own(self, path: Path) -> None:
        """Hands a file or folder to this account."""
        if self.is_dropped:
            os.chown(path, self.uid, self.gid)

    def reaches(self, path: Path) -> bool:
        """Tells whether the account can read the path itself and enter every folder above it."""
        if not self.is_dropped:
            return True
        real = path.resolve()
        return self._may(real, stat.S_IROTH, stat.S_IRUSR) and all(
            self._may(parent, stat.S_IXOTH, stat.S_IXUSR) for parent in real.parents
        )

    def enters(self, folder: Path) -> bool:
        """Tells whether the account can go through the folder and every folder above it."""
        if not self.is_dropped:
            return True
        real = folder.resolve()
        return all(self._may(each, stat.S_IXOTH, stat.S_IXUSR) for each in (real, *real.parents))

    def _may(self, path: Path, others: int, owner: int) -> bool:
        found = path.stat()
        return bool(found.st_mode & (owner if found.st_uid == self.uid else others))


def server_identity() -> Identity:
    """Returns the account for servers: the caller's own, or the unprivileged one for root.

    Raises:
        DevServerError: The caller is root and the system has no unprivileged account.
    """
    if os.geteuid() != 0:
        return Identity(uid=os.geteuid(), gid=os.getegid(), is_dropped=False)
    try:
        account = pwd.getpwnam(UNPRIVILEGED_ACCOUNT)
    except KeyError:
        raise DevServerError(
            f"PostgreSQL refuses to run as root and there is no account {UNPRIVILEGED_ACCOUNT!r} to run it as; "
            "start this as an ordinary user or set HEADRACE_DATABASE_URL."
        ) from None
    return Identity(uid=account.pw_uid, gid=account.pw_gid, is_dropped=True)


def open_tree(root: Path) -> None:
    """Lets everybody read a folder tree and run its programs; nobody gains the right to write."""
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o755)
        for name in names:
            file = Path(folder, name)
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644)


def copy_for_everybody(source: Path, target: Path) -> None:
    """Copies a folder tree to where every account can use it; safe when several processes do so at once.

    Args:
        source: The tree.
        target: Where the copy goes; one that exists already is taken as it is.
    """
    if target.exists():
        return
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copytree(source, draft, symlinks=True)
    open_tree(draft)
    try:
        draft.rename(target)
    except OSError:  # another process was first
        shutil.rmtree(draft)
