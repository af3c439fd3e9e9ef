"""The payload grammar: what it reads, what it refuses, and what the fields that it makes take and refuse."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError, create_model

from headrace.om.work.types.work_payload import WorkPayload
from headrace.tools.new_worker.exceptions import WrongNameError
from headrace.tools.new_worker.rendering import PayloadField, parse_payload
from headrace.tools.new_worker.rendering.field_types import FIELD_TYPES

WORDS: dict[str, Any] = {
    "Annotated": Annotated,
    "AwareDatetime": AwareDatetime,
    "Decimal": Decimal,
    "Field": Field,
    "UUID": UUID,
    "date": date,
}


def test_fields_are_read_in_their_order_with_lists_and_optional_ones() -> None:
    assert parse_payload(["order_id:uuid", "tags:str[]", "note:str?", "sizes:int[]?"]) == (
        PayloadField("order_id", "uuid"),
        PayloadField("tags", "str[]"),
        PayloadField("note", "str", is_optional=True),
        PayloadField("sizes", "int[]", is_optional=True),
    )


def test_a_note_is_what_a_payload_has_when_nothing_is_said() -> None:
    assert parse_payload([]) == (PayloadField("note", "str", is_optional=True),)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("order_id", "'order_id' is no field of a payload: expected NAME:TYPE"),
        (":str", "':str' is no field of a payload"),
        ("order_id:", "'order_id:' is no field of a payload"),
        ("a:text", "'a:text' has no type that is known: expected one of str, int, float, bool, decimal, uuid, date,"),
        ("a:STR", "no type that is known"),
        ("a:str?[]", "no type that is known"),
        ("a:str[][]", "no type that is known"),
        ("a:str??", "no type that is known"),
        ("a:b:str", "no type that is known"),
        ("Order:str", "'Order' is no name for a field: expected snake case"),
        ("_order:str", "'_order' is no name for a field"),
        ("order__id:str", "'order__id' is no name for a field"),
        ("order_:str", "'order_' is no name for a field"),
        ("1st:str", "'1st' is no name for a field"),
        ("straße:str", "'straße' is no name for a field"),
        (f"{'x' * 61}:str", "has 61 characters: it may have at most 60"),
        ("class:str", "'class' is a keyword of Python"),
        ("str:str", "'str' is the name of a type"),
        ("date:date", "'date' is the name of a type"),
        ("tuple:int[]", "'tuple' is the name of a type"),
        ("model_config:str", "'model_config' begins with model_, which pydantic keeps for itself"),
        ("model_name:str", "'model_name' begins with model_"),
        ("kind:str", "'kind' has a meaning of its own in every payload already"),
        ("json:str", "'json' has a meaning of its own"),
        ("copy:str", "'copy' has a meaning of its own"),
        ("with_changes:str", "'with_changes' has a meaning of its own"),
        ("self:str", "'self' has a meaning of its own"),
    ],
)
def test_a_word_that_is_no_field_is_refused_in_a_sentence(word: str, sentence: str) -> None:
    with pytest.raises(WrongNameError) as refused:
        parse_payload(["order_id:uuid", word])
    assert sentence in str(refused.value)


def test_a_field_that_is_there_twice_is_refused() -> None:
    with pytest.raises(WrongNameError, match="has the field 'a' twice"):
        parse_payload(["a:str", "b:str", "a:int?"])


def test_more_fields_than_anybody_reads_are_refused() -> None:
    with pytest.raises(WrongNameError, match="has 51 fields: it may have at most 50"):
        parse_payload([f"f{number}:str" for number in range(51)])


@pytest.mark.parametrize("name", ["id", "type", "match", "data", "object", "list", "hash", "uuid4", "field", "x"])
def test_a_common_word_may_name_a_field(name: str) -> None:
    assert parse_payload([f"{name}:str"]) == (PayloadField(name, "str"),)


def adapter(field: PayloadField) -> TypeAdapter[Any]:
    """The field as the generated model has it, in a model of its own."""
    annotation, _, default = field.declaration.removeprefix(f"{field.name}: ").partition(" = ")
    evaluated = eval(annotation, dict(WORDS))  # noqa: S307 - what the generator itself wrote
    given = eval(default, dict(WORDS)) if default else ...  # noqa: S307 - likewise
    model: type[WorkPayload] = create_model("Sample", __base__=WorkPayload, value=(evaluated, given))
    return TypeAdapter(model)


every_field = pytest.mark.parametrize(
    "field",
    [PayloadField("value", name, is_optional=is_optional) for name in FIELD_TYPES for is_optional in (False, True)],
    ids=lambda field: f"{field.type_name}{'?' if field.is_optional else ''}",
)


@every_field
def test_the_good_value_is_taken_and_written_back_the_same(field: PayloadField) -> None:
    good = {"value": eval(field.good)}  # noqa: S307 - what the generator itself wrote
    taken = adapter(field).validate_python(good)
    assert taken.model_dump(mode="json") == good


@every_field
def test_each_wrong_value_is_refused(field: PayloadField) -> None:
    assert field.wrong_cases
    for case in field.wrong_cases:
        with pytest.raises(ValidationError):
            adapter(field).validate_python({"value": eval(case.value)})  # noqa: S307 - what the generator itself wrote


@every_field
def test_a_missing_value_is_refused_unless_the_field_is_optional(field: PayloadField) -> None:
    if field.is_optional:
        assert adapter(field).validate_python({}).value is None
    else:
        with pytest.raises(ValidationError, match="Field required"):
            adapter(field).validate_python({})


@every_field
def test_the_imports_are_what_the_declaration_names(field: PayloadField) -> None:
    named = {name for name in WORDS if name in field.declaration.partition(": ")[2].replace("AwareDatetime", "Aware")}
    named |= {"AwareDatetime"} if "AwareDatetime" in field.declaration else set()
    assert {name for _, name in field.imports} == named
