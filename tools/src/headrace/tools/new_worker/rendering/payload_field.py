"""One field of a payload, as it is written into the payload's model and into its test."""

from dataclasses import dataclass

from headrace.tools.new_worker.rendering.field_types import FIELD_TYPES, FieldType, WrongCase, wrong_cases


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A field, judged already (`parse_payload`).

    Attributes:
        name: In snake case.
        type_name: A key of `FIELD_TYPES`.
        is_optional: Whether it may be left out; it is None then.
    """

    name: str
    type_name: str
    is_optional: bool = False

    @property
    def declaration(self) -> str:
        """The field's line in the model."""
        default = ("default=None",) if self.is_optional else ()
        arguments = ", ".join((*default, *self._type.bounds))
        annotation = f"{self._type.annotation} | None" if self.is_optional else self._type.annotation
        if self._type.bounds:
            return f"{self.name}: {annotation} = Field({arguments})"
        return f"{self.name}: {annotation}{' = None' if self.is_optional else ''}"

    @property
    def imports(self) -> tuple[tuple[str, str], ...]:
        """What the line needs: modules with the names in them."""
        return (*self._type.imports, ("pydantic", "Field")) if self._type.bounds else self._type.imports

    @property
    def good(self) -> str:
        """A JSON value that fits, as Python writes it."""
        return self._type.good

    @property
    def wrong_cases(self) -> tuple[WrongCase, ...]:
        """Values that do not fit."""
        return wrong_cases(self._type, is_optional=self.is_optional)

    @property
    def _type(self) -> FieldType:
        return FIELD_TYPES[self.type_name]
