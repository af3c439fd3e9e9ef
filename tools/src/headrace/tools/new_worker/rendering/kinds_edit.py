"""The kind's line in the enumeration `WorkKind`.

Where it goes is read off the syntax tree; what is written is that one line, so that the rest of the file, its comments
and its line ends stay as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

import libcst as cst
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome

CLASS: Final = "WorkKind"
_MEMBER: Final = m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(target=m.Name())])])
_TOLD: Final = m.SimpleStatementLine(body=[m.Expr(value=m.SimpleString())])
"""A text below a member that says what it is."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the class; lines count from 0.

    Attributes:
        name: The kind.
        value: Its value; None where that is no plain text.
        begins_at: Its line, or that of the first comment that stands directly above it.
        line: Its line.
        ends_at: The line below it and below the text that says what it is.
    """

    name: str
    value: str | None
    begins_at: int
    line: int
    ends_at: int


def add_kind(kind: str, text: str) -> EditOutcome:
    """Add a member in front of the first one whose name sorts behind it, else behind the last."""
    members = _members(text)
    if not members:
        return _lost(kind)
    if same := [each for each in members if each.name == kind]:
        return AlreadyThere() if same[0].value == kind else _taken(kind)
    at = next((each.begins_at for each in members if each.name > kind), members[-1].ends_at)
    lines = text.splitlines(keepends=True)
    model = lines[members[0].line]
    indent, line_end = model[: len(model) - len(model.lstrip())], model[len(model.rstrip("\r\n")) :]
    return Done("".join((*lines[:at], f'{indent}{kind} = "{kind}"{line_end}', *lines[at:])))


def remove_kind(kind: str, text: str) -> EditOutcome:
    """Take the member out, with the comment above it and the text below it, where somebody gave it any."""
    members = _members(text)
    if not members:
        return _lost(kind)
    same = [each for each in members if each.name == kind]
    if not same:
        return AlreadyThere()
    if same[0].value != kind:
        return _taken(kind)
    lines = text.splitlines(keepends=True)
    return Done("".join(line for at, line in enumerate(lines) if not same[0].begins_at <= at < same[0].ends_at))


def _members(text: str) -> tuple[_Member, ...]:
    """Return the members of the one class of that name; none where there is no such class, or more than one."""
    wrapper = MetadataWrapper(cst.parse_module(text))
    positions = wrapper.resolve(PositionProvider)
    classes = [each for each in wrapper.module.body if m.matches(each, m.ClassDef(name=m.Name(CLASS)))]
    if len(classes) != 1 or not isinstance(classes[0], cst.ClassDef):
        return ()
    body = tuple(each for each in classes[0].body.body if isinstance(each, cst.SimpleStatementLine))
    return tuple(_read(body, {each: positions[each].start.line - 1 for each in body}))


def _read(body: Sequence[cst.SimpleStatementLine], lines: Mapping[cst.SimpleStatementLine, int]) -> Iterator[_Member]:
    for statement, following in pairwise((*body, None)):
        if statement is not None and (assign := _assign_of(statement)) is not None:
            line = lines[statement]
            yield _Member(
                name=cst.ensure_type(assign.targets[0].target, cst.Name).value,
                value=_text_of(assign.value),
                begins_at=line - _num_comments(statement),
                line=line,
                ends_at=line + 1 + (0 if following is None else _num_told(following, lines[following] - line)),
            )


def _assign_of(statement: cst.SimpleStatementLine) -> cst.Assign | None:
    return cst.ensure_type(statement.body[0], cst.Assign) if m.matches(statement, _MEMBER) else None


def _text_of(value: cst.BaseExpression) -> str | None:
    text = value.evaluated_value if isinstance(value, cst.SimpleString) else None
    return text if isinstance(text, str) else None


def _num_comments(statement: cst.SimpleStatementLine) -> int:
    above = reversed(statement.leading_lines)
    return len(list(takewhile(lambda line: line.comment is not None, above)))


def _num_told(following: cst.SimpleStatementLine, distance: int) -> int:
    """Return the lines of a text that stands directly below a member; 0 where what follows is something else."""
    if distance != 1 or not m.matches(following, _TOLD):
        return 0
    return cst.Module([following]).code.rstrip().count("\n") + 1


def _taken(kind: str) -> Cannot:
    return Cannot(f'{CLASS} has the member {kind} with another value: expected `{kind} = "{kind}"`.')


def _lost(kind: str) -> Cannot:
    return Cannot(f'Expected one class {CLASS} with members in the module: add `{kind} = "{kind}"` to it.')
