"""The types that a payload's fields may have, each with its bounds and with what its generated test tries on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MAX_TEXT: Final = 1000
"""Characters of a text field."""

MAX_LIST: Final = 1000
"""Elements of a list field."""


@dataclass(frozen=True, slots=True)
class WrongCase:
    """A value that a field must refuse.

    Attributes:
        what: What is wrong with it, for the case's name.
        value: The value, as Python writes it.
    """

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class FieldType:
    """A type of the payload grammar; everything in it is as Python writes it.

    Attributes:
        annotation: The field's annotation.
        imports: The modules that it is imported from, each with the name.
        bounds: Arguments of pydantic's `Field`.
        good: A JSON value that fits, just as pydantic writes it back.
        wrong: Values that do not fit.
    """

    annotation: str
    good: str
    wrong: tuple[WrongCase, ...]
    imports: tuple[tuple[str, str], ...] = ()
    bounds: tuple[str, ...] = ()


_NULL: Final = WrongCase("null", "None")

_SCALARS: Final = {
    "str": FieldType(
        annotation="str",
        good='"hello"',
        wrong=(
            WrongCase("empty", '""'),
            WrongCase("too long", f'"x" * {MAX_TEXT + 1}'),
            WrongCase("a number", "7"),
        ),
        bounds=("min_length=1", f"max_length={MAX_TEXT}"),
    ),
    "int": FieldType(
        annotation="int",
        good="7",
        wrong=(
            WrongCase("a text", '"7"'),
            WrongCase("a fraction", "7.5"),
            WrongCase("a boolean", "True"),
            WrongCase("beyond 64 bits", "2**63"),
        ),
        bounds=("strict=True", "ge=-(2**63)", "lt=2**63"),
    ),
    "float": FieldType(
        annotation="float",
        good="1.5",
        wrong=(
            WrongCase("a text", '"1.5"'),
            WrongCase("a boolean", "True"),
            WrongCase("not finite", 'float("inf")'),
            WrongCase("not a number", 'float("nan")'),
        ),
        bounds=("strict=True", "allow_inf_nan=False"),
    ),
    "bool": FieldType(
        annotation="bool",
        good="True",
        wrong=(WrongCase("a text", '"true"'), WrongCase("a number", "1")),
        bounds=("strict=True",),
    ),
    "decimal": FieldType(
        annotation="Decimal",
        good='"12.50"',
        wrong=(
            WrongCase("a word", '"much"'),
            WrongCase("not finite", '"Infinity"'),
            WrongCase("not a number", '"NaN"'),
            WrongCase("too many digits", '"1" * 39'),
        ),
        imports=(("decimal", "Decimal"),),
        bounds=("allow_inf_nan=False", "max_digits=38", "decimal_places=18"),
    ),
    "uuid": FieldType(
        annotation="UUID",
        good='"0192f0c1-6a00-7000-8000-000000000001"',
        wrong=(WrongCase("a word", '"first"'), WrongCase("a number", "7")),
        imports=(("uuid", "UUID"),),
    ),
    "date": FieldType(
        annotation="date",
        good='"2026-02-28"',
        wrong=(WrongCase("a word", '"today"'), WrongCase("no such day", '"2026-02-30"')),
        imports=(("datetime", "date"),),
    ),
    "datetime": FieldType(
        annotation="AwareDatetime",
        good='"2026-02-28T12:00:00Z"',
        wrong=(WrongCase("a word", '"now"'), WrongCase("without a time zone", '"2026-02-28T12:00:00"')),
        imports=(("pydantic", "AwareDatetime"),),
    ),
}


def _list_of(element: FieldType) -> FieldType:
    bounded = f"Annotated[{element.annotation}, Field({', '.join(element.bounds)})]"
    annotated = (("pydantic", "Field"), ("typing", "Annotated")) if element.bounds else ()
    return FieldType(
        annotation=f"tuple[{bounded if element.bounds else element.annotation}, ...]",
        good=f"[{element.good}]",
        wrong=(
            WrongCase("no list", element.good),
            WrongCase("too long", f"[{element.good}] * {MAX_LIST + 1}"),
            *(WrongCase(f"an element, {each.what}", f"[{each.value}]") for each in (*element.wrong, _NULL)),
        ),
        imports=(*element.imports, *annotated),
        bounds=(f"max_length={MAX_LIST}",),
    )


FIELD_TYPES: Final[Mapping[str, FieldType]] = MappingProxyType(
    {**_SCALARS, **{f"{name}[]": _list_of(element) for name, element in _SCALARS.items()}}
)
"""Every type by its name in the grammar."""


def wrong_cases(type_: FieldType, *, is_optional: bool) -> tuple[WrongCase, ...]:
    """Return what a field of the type must refuse: null too, unless it is optional."""
    return type_.wrong if is_optional else (*type_.wrong, _NULL)
