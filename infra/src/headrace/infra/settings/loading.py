"""Loading settings, with errors that name the variable to change."""

import difflib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_settings import SettingsError

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings.catalogue import is_secret
from headrace.infra.settings.process import ENV_PREFIX, ProcessSettings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Close enough for a slip of the finger in a name of this length, too close for the variable of another process.
_LIKENESS = 0.93
_PYDANTIC_LEAD = "Value error, "


def load_settings[SettingsT: ProcessSettings](cls: type[SettingsT]) -> SettingsT:
    """Reads the settings of a process from its environment and `.env`.

    Raises:
        ConfigurationInvalid: One sentence per setting that is missing or cannot be; never holds a secret's value.
    """
    try:
        return cls()
    except ValidationError as error:
        sentences = [_sentence(cls, details) for details in error.errors(include_url=False)]
    except SettingsError as error:
        sentences = [f"a variable cannot be read, a list must be written as JSON: {error}"]
    # Outside the handlers, so that no trace shows the input with its secrets.
    raise ConfigurationInvalid("; ".join(sentences))


def misspelt_variables(cls: type[ProcessSettings], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables of ours that no field reads though their name is a slip away from one that is read.

    Returns:
        The variable -> what it was probably meant to be. Variables of other processes are not in it.
    """
    known = {variable for field in cls.model_fields for variable in cls.variables_of(field)}
    given = [name.upper() for name in (os.environ if environ is None else environ)]
    strange = [name for name in given if name.startswith(ENV_PREFIX) and name not in known]
    likely = {name: difflib.get_close_matches(name, known, n=1, cutoff=_LIKENESS) for name in strange}
    return {name: matches[0] for name, matches in likely.items() if matches}


def _sentence(cls: type[ProcessSettings], details: "ErrorDetails") -> str:
    message = details["msg"].removeprefix(_PYDANTIC_LEAD)
    if not details["loc"]:
        return message
    field = str(details["loc"][0])
    variables = cls.variables_of(field)
    if details["type"] == "missing":
        about = cls.model_fields[field].description
        return f"{' or '.join(variables)} is not set and is required{f': {about}' if about else ''}"
    used = next((name for name in variables if os.environ.get(name)), " or ".join(variables))
    given = "" if is_secret(cls.model_fields[field]) else f", got {details['input']!r}"
    return f"{used}: {message[:1].lower()}{message[1:]}{given}"
