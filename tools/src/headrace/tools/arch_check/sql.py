"""Reads hand-written PostgreSQL migrations far enough to tell which tables they make and how they fence them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from headrace.tools.arch_check.repository import Repository, TextFile

# om/migrations/sql/<role>/<file>
_MIGRATION_DEPTH = 5
_NAME = r'(?:"[^"]+"|[A-Za-z_]\w*)'
_QUALIFIED = rf"{_NAME}(?:\s*\.\s*{_NAME})?"
_COMMENT_OR_TEXT = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_CREATE = re.compile(rf"\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?({_QUALIFIED})", re.IGNORECASE)
_DROP = re.compile(r"\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?([^;]+)", re.IGNORECASE)
_RENAME = re.compile(
    rf"\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?({_QUALIFIED})\s+RENAME\s+TO\s+({_NAME})", re.IGNORECASE
)
_REFERENCES = re.compile(rf"\bREFERENCES\s+({_QUALIFIED})", re.IGNORECASE)
_ALTER = re.compile(rf"\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?({_QUALIFIED})([^;]*)", re.IGNORECASE)
_POLICY = re.compile(rf"\bCREATE\s+POLICY\s+{_NAME}\s+ON\s+({_QUALIFIED})", re.IGNORECASE)
_PROGRAM = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+|EVENT\s+)?(TRIGGER|FUNCTION|PROCEDURE|RULE)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as a statement names it; `schema` is None where it is left to the search path."""

    schema: str | None
    table: str
    line: int


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One migration script; its text has comments blanked out, so offsets and lines are those of the file."""

    path: str
    role: str
    text: str

    @property
    def stem(self) -> str:
        """The file's name without direction and suffix."""
        return PurePosixPath(self.path).name.removesuffix(".sql").rpartition(".")[0]

    @property
    def is_up(self) -> bool:
        """Whether the script upgrades."""
        return self.path.endswith(".up.sql")

    def created(self) -> list[TableName]:
        """Give the tables it creates."""
        return [self._table(match) for match in _CREATE.finditer(self.text)]

    def dropped(self) -> list[str]:
        """Give the names of the tables it drops."""
        names = (name for match in _DROP.finditer(self.text) for name in match[1].split(","))
        return [_split(name.split()[0])[1] for name in names if name.strip()]

    def renamed(self) -> list[tuple[str, str]]:
        """Give old and new name of the tables it renames."""
        return [(_split(match[1])[1], _split(match[2])[1]) for match in _RENAME.finditer(self.text)]

    def referenced(self) -> list[TableName]:
        """Give the tables that its foreign keys point at."""
        found = (self._table(match) for match in _REFERENCES.finditer(self.text))
        return [name for name in found if name.table != "on"]

    def altered(self, table: str, action: str) -> list[int]:
        """Give the lines where it applies an action, such as FORCE ROW LEVEL SECURITY, to a table."""
        words = re.compile(rf"(?<!NO )\b{re.escape(action)}\b", re.IGNORECASE)
        matches = (match for match in _ALTER.finditer(self.text) if _split(match[1])[1] == table)
        return [self._line(match) for match in matches if words.search(" ".join(match[2].split()))]

    def has_policy(self, table: str) -> bool:
        """Tell whether it creates a row policy on a table."""
        return any(_split(match[1])[1] == table for match in _POLICY.finditer(self.text))

    def programs(self) -> list[tuple[int, str]]:
        """Give line and sort of every trigger, function, procedure and rule that it creates."""
        return [(self._line(match), match[1].lower()) for match in _PROGRAM.finditer(self.text)]

    def _table(self, match: re.Match[str]) -> TableName:
        schema, table = _split(match[1])
        return TableName(schema, table, self._line(match))

    def _line(self, match: re.Match[str]) -> int:
        return self.text.count("\n", 0, match.start()) + 1


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table that exists after every upgrade, with the script and the name under which it was created."""

    name: str
    created: TableName
    file: SqlFile


def sql_files(repository: Repository) -> list[SqlFile]:
    """Give the migration scripts of a tree, ordered by role and then by name, which begins with the stamp."""
    return [_sql_file(file) for file in repository.files if _is_migration(file)]


def live_tables(files: Iterable[SqlFile]) -> list[LiveTable]:
    """Follow the upgrades in their order and give the tables that are left."""
    live: dict[tuple[str, str], LiveTable] = {}
    for file in files:
        if file.is_up:
            _follow(file, live)
    return list(live.values())


def _follow(file: SqlFile, live: dict[tuple[str, str], LiveTable]) -> None:
    for created in file.created():
        live[file.role, created.table] = LiveTable(created.table, created, file)
    for old, new in file.renamed():
        before = live.pop((file.role, old), None)
        if before is not None:
            live[file.role, new] = LiveTable(new, before.created, before.file)
    for name in file.dropped():
        live.pop((file.role, name), None)


def _is_migration(file: TextFile) -> bool:
    path = PurePosixPath(file.path)
    return (
        path.suffix == ".sql" and path.parts[:3] == ("om", "migrations", "sql") and len(path.parts) == _MIGRATION_DEPTH
    )


def _sql_file(file: TextFile) -> SqlFile:
    return SqlFile(file.path, PurePosixPath(file.path).parts[3], without_comments(file.text))


def without_comments(text: str) -> str:
    """Blank the comments of an SQL text; every other character keeps its place."""
    return _COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0][0] == "'" else _blank(match[0]), text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _split(qualified: str) -> tuple[str | None, str]:
    parts = [_plain(part) for part in qualified.split(".")]
    return (parts[0] if len(parts) > 1 else None), parts[-1]


def _plain(name: str) -> str:
    name = name.strip()
    return name[1:-1] if name.startswith('"') else name.lower()
