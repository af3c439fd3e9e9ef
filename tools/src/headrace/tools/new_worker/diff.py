"""A plan as a patch, in the form that `git apply` takes."""

import difflib
import io
from collections.abc import Iterable, Iterator
from typing import Final

from headrace.tools.new_worker.plan import Plan, PlannedFile

_NO_FILE: Final = "/dev/null"
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


def patch_of(plan: Plan) -> str:
    """Return what the plan changes; empty when it changes nothing."""
    return "".join(patch_of_file(file) for file in plan.changes)


def patch_of_file(file: PlannedFile) -> str:
    """Return what becomes of one file; empty when nothing does."""
    if file.before == file.after:
        return ""
    old = _NO_FILE if file.before is None else f"a/{file.path}"
    new = _NO_FILE if file.after is None else f"b/{file.path}"
    hunks = difflib.unified_diff(_lines(file.before), _lines(file.after), old, new)
    return "".join([f"diff --git a/{file.path} b/{file.path}\n", *_mode(file), *_ended(hunks)])


def _mode(file: PlannedFile) -> Iterator[str]:
    if file.before is None:
        yield "new file mode 100644\n"
    if file.after is None:
        yield "deleted file mode 100644\n"


def _lines(content: bytes | None) -> list[str]:
    return list(io.StringIO((content or b"").decode(errors="replace"), newline="\n"))


def _ended(lines: Iterable[str]) -> Iterator[str]:
    """Yield every line with its end, marking those that have none."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"
