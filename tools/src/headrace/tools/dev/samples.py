"""The sample events under `examples/webhooks`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.tools.dev.exceptions import DevServerError

FOLDER: Final = Path("examples", "webhooks")
_NAME: Final = re.compile(r"\d+-(?P<event>[a-z0-9_.]+)\.json")


@dataclass(frozen=True, slots=True)
class Sample:
    """One event to publish.

    Attributes:
        event_type: What happened.
        body: The bytes that every endpoint must get.
    """

    event_type: str
    body: bytes

    @property
    def text(self) -> str:
        """The body as it is published."""
        return self.body.decode()


def load_samples(folder: Path) -> tuple[Sample, ...]:
    """Returns the samples of a folder in the order of their numbers: files called `NN-event.type.json`.

    Raises:
        DevServerError: There is none, or a file cannot be read.
    """
    try:
        found = [
            Sample(match["event"], path.read_bytes())
            for path in sorted(folder.glob("*.json"))
            if (match := _NAME.fullmatch(path.name)) is not None
        ]
    except OSError as error:
        raise DevServerError(f"The sample {error.filename} cannot be read: {error.strerror}.") from error
    if not found:
        raise DevServerError(f"There are no samples called NN-event.type.json in {folder}.")
    return tuple(found)
