"""Secrets in the files of one directory: mounted by an orchestrator, or written by local tools."""

import asyncio
import os
from pathlib import Path
from typing import Final, override
from uuid import uuid4

from pydantic import SecretStr

from headrace.infra.exceptions import BackendUnavailable, SecretNotFound
from headrace.infra.secrets import WritableSecretsInterface, name_within

MAX_SECRET_BYTES: Final = 64 * 1024


class SecretsFileImpl(WritableSecretsInterface):
    """``file:name`` is the file of that name in the directory; one line end after the value does not count.

    Links are followed only within the directory, as orchestrators make them there. Files are written for the owner's
    eyes only (0600), in a directory of the same kind (0700) that is made when it is missing.

    Args:
        directory: Where the files are; it need not exist for reading.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @override
    async def get(self, reference: str) -> SecretStr:
        name = name_within(reference, "file")
        try:
            return await asyncio.to_thread(self._read, name)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SecretNotFound(f"secret {reference} cannot be found: {reason}")

    @override
    async def put(self, name: str, value: SecretStr) -> str:
        reference = _checked_reference(name)
        content = _checked_content(value)
        try:
            await asyncio.to_thread(self._write, name, content)
        except OSError as error:
            raise BackendUnavailable(f"secret {reference} cannot be written: {error.strerror}") from error
        return reference

    @override
    def describe(self) -> str:
        return f"files in {self._directory}"

    def _read(self, name: str) -> SecretStr:
        path = (self._directory / name).resolve(strict=True)
        if not path.is_relative_to(self._directory.resolve()):
            raise ValueError("the file is a link out of the directory")
        with path.open("rb") as file:
            content = file.read(MAX_SECRET_BYTES + 2)
        return SecretStr(_text(content))

    def _write(self, name: str, content: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._directory / f".{uuid4().hex}.draft"  # no reference can name it
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._directory / name)
        finally:
            draft.unlink(missing_ok=True)


def _checked_reference(name: str) -> str:
    try:
        name_within(f"file:{name}", "file")
    except SecretNotFound as error:
        raise ValueError(
            "a secret's name must be 1 to 100 letters, digits, '.', '_', '-', the first no sign"
        ) from error
    return f"file:{name}"


def _checked_content(value: SecretStr) -> bytes:
    # No cause is chained: the encoder's error would show the value.
    try:
        content = value.get_secret_value().encode()
    except UnicodeEncodeError:
        content = b""
    if not 0 < len(content) <= MAX_SECRET_BYTES:
        raise ValueError(f"a secret must be text of 1 to {MAX_SECRET_BYTES} bytes")
    return content + b"\n"


def _text(content: bytes) -> str:
    """Return the value in a file's bytes, without showing any of it in an error."""
    try:
        value = content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8 text") from None
    if not 0 < len(value.encode()) <= MAX_SECRET_BYTES:
        raise ValueError(f"the file is empty or above {MAX_SECRET_BYTES} bytes")
    return value
