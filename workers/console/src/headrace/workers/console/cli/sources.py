"""JSON from the command line: written out, from a file, or from standard input."""

import json
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

MAX_INPUT_BYTES: Final = 16 * 1024 * 1024
"""More is not read: it is above every bound of the platform."""

_BEGINS_JSON: Final = ("{", "[", '"')


def read_json_text(given: str, option: str) -> str:
    """Return the JSON that an option means, as exactly the text that it was written in.

    Args:
        given: JSON itself, `-` for standard input, or a file's name (behind `@` where it could be taken for JSON).
        option: The option's name, for the sentence.

    Raises:
        typer.BadParameter: Nothing can be read there, or what is there is no JSON.
    """
    text = _read(given, option)
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"expected JSON: {error}", param_hint=option) from None
    return text


def read_json_object(given: str, option: str) -> dict[str, Any]:
    """Return the JSON object that an option means; as `read_json_text`.

    Raises:
        typer.BadParameter: Likewise, or the JSON is no object.
    """
    value = json.loads(read_json_text(given, option))
    if not isinstance(value, dict):
        raise typer.BadParameter("expected a JSON object, such as {}", param_hint=option)
    return value


def _read(given: str, option: str) -> str:
    if given == "-":
        return _decoded(sys.stdin.buffer.read(MAX_INPUT_BYTES + 1), "standard input", option)
    if given.startswith("@"):
        return _file(Path(given[1:]), option)
    if given.lstrip().startswith(_BEGINS_JSON) or _is_json(given):
        return given
    return _file(Path(given), option)


def _file(path: Path, option: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_INPUT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        expected = f"expected JSON, - for standard input, or a file that can be read: {str(path)!r}: {reason}"
        raise typer.BadParameter(expected, param_hint=option) from None
    return _decoded(content, str(path), option)


def _decoded(content: bytes, where: str, option: str) -> str:
    if len(content) > MAX_INPUT_BYTES:
        raise typer.BadParameter(f"{where} holds more than {MAX_INPUT_BYTES} bytes", param_hint=option)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{where} is not UTF-8 text (byte {error.start})", param_hint=option) from None


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
