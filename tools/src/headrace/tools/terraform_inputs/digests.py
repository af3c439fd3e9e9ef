"""Reads which digest each image has: a JSON object of folder name to `sha256:...`."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from headrace.tools.terraform_inputs.document import Digest
from headrace.tools.terraform_inputs.exceptions import TerraformInputsError

_DIGESTS = TypeAdapter(dict[str, Digest])


def read_digests(file: Path) -> dict[str, str]:
    """Return the digest of each program's image, by the folder's name below `workers/`.

    Raises:
        TerraformInputsError: The file cannot be read, or holds something else than digests; it names the first one.
    """
    try:
        return _DIGESTS.validate_json(file.read_bytes())
    except OSError as error:
        raise TerraformInputsError(f"{file}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise TerraformInputsError(
            f'{file}: {place}: expected a JSON object such as {{"maintenance": "sha256:..."}}: {first["msg"]}'
        ) from None
