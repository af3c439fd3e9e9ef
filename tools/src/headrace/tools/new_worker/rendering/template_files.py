"""Where the templates are, and how they are filled in."""

from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined

TEMPLATES: Final = files("headrace.tools.new_worker") / "templates"

_ENVIRONMENT: Final = Environment(
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - source code, no HTML
)


def filled(template: str, words: dict[str, Any]) -> str:
    """Return a template's text with its words filled in.

    Raises:
        UndefinedError: The template has a word that is not given.
    """
    return _ENVIRONMENT.from_string(template).render(words)
