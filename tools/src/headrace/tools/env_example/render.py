"""From settings classes to the text of the `.env.example` files; pure."""

import textwrap
from collections.abc import Iterable
from typing import Final

from headrace.infra.settings import ProcessSettings, SettingEntry, settings_catalogue

SHARED_HEADER: Final = """\
# Every setting that the workers share, written from the settings classes by `make env-example`.
# Copy to .env and take the # away in front of what you change; what stays commented out shows its local value.
# Durations: 250ms, 5s, 2m, 1h, or ISO 8601.
# A worker's own settings stand in workers/<name>/.env.example, and so do these under its name, for it alone. Both .env
# files are read together: a name with the worker in it outranks the shared one; under one name the environment outranks
# workers/<name>/.env, and that this file's .env.
"""

OWN_HEADER: Final = """\
# Every setting of workers/{name}, written from its settings class by `make env-example`.
# Copy to workers/{name}/.env, which is read beside the .env of the working tree and outranks it, and take the # away
# in front of what you change; what stays commented out shows its local value.
"""

ALONE: Final = """
## What it shares with all workers, set for it alone; the meanings stand in the .env.example of the working tree

"""

WIDTH: Final = 116


def render_shared(cls: type[ProcessSettings]) -> str:
    """Return the working tree's file.

    Args:
        cls: What all workers share.
    """
    return SHARED_HEADER + "".join(_told(entry, entry.variable) for entry in settings_catalogue(cls))


def render_own(name: str, cls: type[ProcessSettings]) -> str:
    """Return the file of one program: its own settings with their meaning, then those that it shares.

    Args:
        name: Its folder below `workers/`.
        cls: Its settings class.
    """
    entries = settings_catalogue(cls)
    own = [each for each in entries if each.variable == each.variables[0]]
    shared = [each for each in entries if each.variable != each.variables[0]]
    return OWN_HEADER.format(name=name) + "".join(_told(each, each.variable) for each in own) + _listed(shared)


def _told(entry: SettingEntry, variable: str) -> str:
    marks = [mark for mark, is_so in (("required", entry.is_required), ("secret", entry.is_secret)) if is_so]
    told = f"{entry.description.rstrip('.')}{f' ({", ".join(marks)})' if marks else ''}."
    comment = textwrap.fill(told, WIDTH, initial_indent="# ", subsequent_indent="# ")
    return f"\n{comment}\n{_assignment(entry, variable)}"


def _listed(entries: Iterable[SettingEntry]) -> str:
    lines = "".join(_assignment(each, each.variables[0]) for each in entries)
    return f"{ALONE}{lines}" if lines else ""


def _assignment(entry: SettingEntry, variable: str) -> str:
    return f"#{variable}={entry.default or ''}\n"
