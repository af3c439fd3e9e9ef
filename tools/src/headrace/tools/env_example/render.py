"""From settings classes to the text of `.env.example`; pure."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from headrace.infra.settings import ProcessSettings, SettingEntry, settings_catalogue

HEADER: Final = """\
# Every setting of every process, written from the settings classes by `make env-example`.
# Copy to .env and take the # away in front of what you change; what stays commented out shows its default.
# Durations: 250ms, 5s, 2m, 1h, or ISO 8601. A setting of all workers may be set for one alone: HEADRACE_CAPACITY is
# every worker's, HEADRACE_WEBHOOK_DISPATCHER_CAPACITY the webhook dispatcher's.
"""

WIDTH: Final = 116


def render(processes: Sequence[tuple[str, type[ProcessSettings]]]) -> str:
    """Return the whole file.

    Args:
        processes: The name of each process with its settings class, in the order of the sections. A setting
            stands in the first section that knows it.
    """
    seen: set[str] = set()
    sections = [_section(name, _new(settings_catalogue(cls), seen)) for name, cls in processes]
    return HEADER + "".join(section for section in sections if section)


def _new(entries: Iterable[SettingEntry], seen: set[str]) -> list[SettingEntry]:
    """Return the entries whose variable no earlier section has, and note them."""
    new = [entry for entry in entries if entry.variable not in seen]
    seen.update(entry.variable for entry in new)
    return new


def _section(name: str, entries: Sequence[SettingEntry]) -> str:
    return f"\n## {name}\n" + "".join(_lines(entry) for entry in entries) if entries else ""


def _lines(entry: SettingEntry) -> str:
    marks = [mark for mark, is_so in (("required", entry.is_required), ("secret", entry.is_secret)) if is_so]
    told = f"{entry.description.rstrip('.')}{f' ({", ".join(marks)})' if marks else ''}."
    comment = textwrap.fill(told, WIDTH, initial_indent="# ", subsequent_indent="# ")
    return f"\n{comment}\n#{entry.variable}={entry.default or ''}\n"
