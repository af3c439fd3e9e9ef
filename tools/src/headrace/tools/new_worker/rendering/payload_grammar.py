"""Reads the fields of a payload from the command line: `order_id:uuid carrier:str weight:decimal "note:str?"`."""

import keyword
import re
from collections.abc import Sequence
from typing import Final

from headrace.om.work.types.work_payload import WorkPayload
from headrace.tools.new_worker.exceptions import WrongNameError
from headrace.tools.new_worker.rendering.field_types import FIELD_TYPES
from headrace.tools.new_worker.rendering.payload_field import PayloadField

MAX_FIELDS: Final = 50
MAX_NAME_LENGTH: Final = 60

_NAME: Final = re.compile(r"[a-z](?:_?[a-z0-9])*")
_SELF_NAMES: Final = frozenset({"self", "cls"})
_MODEL_WORDS: Final = frozenset({"tuple"}) | {each for each in FIELD_TYPES if "[" not in each}
"""Words that the module of a payload gives a meaning to, as types."""

DEFAULT_PAYLOAD: Final = (PayloadField("note", "str", is_optional=True),)
"""The payload of a kind of which nothing is known yet: a note for whoever looks at the item."""


def parse_payload(words: Sequence[str]) -> tuple[PayloadField, ...]:
    """Return the fields that the words name, in their order; `DEFAULT_PAYLOAD` for none.

    Args:
        words: Each `NAME:TYPE`, with `[]` after the type for a list and `?` at the end for a field that may be missing.

    Raises:
        WrongNameError: A word cannot be such a field; the sentence says why.
    """
    fields = tuple(_field(word) for word in words)
    if len(fields) > MAX_FIELDS:
        raise WrongNameError(f"The payload has {len(fields)} fields: it may have at most {MAX_FIELDS}.")
    names = [each.name for each in fields]
    if twice := [name for name in names if names.count(name) > 1]:
        raise WrongNameError(f"The payload has the field {twice[0]!r} twice.")
    return fields or DEFAULT_PAYLOAD


def _field(word: str) -> PayloadField:
    name, colon, type_name = word.partition(":")
    if not (name and colon and type_name):
        raise WrongNameError(f"{word!r} is no field of a payload: expected NAME:TYPE, such as order_id:uuid.")
    required = type_name.removesuffix("?")
    _refuse_type(word, required)
    _refuse_name(name)
    return PayloadField(name, required, is_optional=required != type_name)


def _refuse_type(word: str, type_name: str) -> None:
    if type_name not in FIELD_TYPES:
        known = ", ".join(each for each in FIELD_TYPES if "[" not in each)
        raise WrongNameError(
            f"{word!r} has no type that is known: expected one of {known}, with [] after it for a list of them and ?"
            " at the very end for a field that may be missing."
        )


def _refuse_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise WrongNameError(f"{name!r} is no name for a field: expected snake case, such as order_id.")
    if len(name) > MAX_NAME_LENGTH:
        raise WrongNameError(f"The field {name!r} has {len(name)} characters: it may have at most {MAX_NAME_LENGTH}.")
    if keyword.iskeyword(name):
        raise WrongNameError(f"{name!r} is a keyword of Python, so no field can have its name.")
    if name in _MODEL_WORDS:
        raise WrongNameError(f"{name!r} is the name of a type, which a field of that name would hide: choose another.")
    if name.startswith("model_"):
        raise WrongNameError(f"{name!r} begins with model_, which pydantic keeps for itself: choose another name.")
    if name in _SELF_NAMES or name in WorkPayload.__class_vars__ or hasattr(WorkPayload, name):
        raise WrongNameError(f"{name!r} has a meaning of its own in every payload already: choose another name.")
