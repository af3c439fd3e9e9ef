"""Secrets in files: the contract, links, odd content, and writing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from headrace.infra.exceptions import BackendUnavailable, SecretNotFound
from headrace.infra.secrets.impl.file import MAX_SECRET_BYTES, SecretsFileImpl
from infra.tests.contracts.secrets import HIDDEN, SecretsContract


def is_empty(directory: Path) -> bool:
    return not list(directory.iterdir())


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "secrets"
    directory.mkdir()
    return directory


@pytest.fixture
def store(directory: Path) -> SecretsFileImpl:
    return SecretsFileImpl(directory)


class TestSecretsFile(SecretsContract):
    @pytest.fixture
    def plant(self, directory: Path) -> Callable[[str, str], None]:
        def plant(name: str, value: str) -> None:
            (directory / name).write_text(value)

        return plant

    @pytest.fixture
    def scheme(self) -> str:
        return "file"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
async def test_one_line_end_does_not_count_when_a_value_is_read(
    store: SecretsFileImpl, directory: Path, end: str
) -> None:
    (directory / "name").write_bytes(f"two\nlines{end}".encode())
    assert (await store.get("file:name")).get_secret_value() == "two\nlines"


async def test_a_link_is_followed_when_it_stays_in_the_directory(store: SecretsFileImpl, directory: Path) -> None:
    (directory / "..data").mkdir()
    (directory / "..data" / "name").write_text("value")
    (directory / "name").symlink_to("..data/name")
    assert (await store.get("file:name")).get_secret_value() == "value"


async def test_a_link_is_refused_when_it_leaves_the_directory(
    store: SecretsFileImpl, directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text(HIDDEN)
    (directory / "name").symlink_to(tmp_path / "outside")
    with pytest.raises(SecretNotFound, match="a link out of the directory"):
        await store.get("file:name")


@pytest.mark.parametrize("content", [b"\xff\xfe" + HIDDEN.encode(), HIDDEN.encode() + b"x" * MAX_SECRET_BYTES, b"\n"])
async def test_the_content_is_not_shown_when_it_is_no_secret(
    store: SecretsFileImpl, directory: Path, content: bytes
) -> None:
    (directory / "name").write_bytes(content)
    with pytest.raises(SecretNotFound, match="secret file:name cannot be found: the file is") as caught:
        await store.get("file:name")
    assert HIDDEN not in repr(caught.value)
    assert caught.value.__cause__ is None


async def test_a_directory_of_that_name_is_no_secret(store: SecretsFileImpl, directory: Path) -> None:
    (directory / "name").mkdir()
    with pytest.raises(SecretNotFound, match="secret file:name cannot be found"):
        await store.get("file:name")


@pytest.mark.parametrize("value", ["plain", "two\nlines\n", "é 😀", "nul \0", "x" * MAX_SECRET_BYTES])
async def test_a_value_is_read_back_when_it_was_put(store: SecretsFileImpl, value: str) -> None:
    reference = await store.put("name", SecretStr(value))
    assert reference == "file:name"
    assert (await store.get(reference)).get_secret_value() == value


async def test_only_the_owner_can_read_when_a_value_was_put(tmp_path: Path) -> None:
    directory = tmp_path / "made" / "here"
    await SecretsFileImpl(directory).put("name", SecretStr("value"))
    assert (directory / "name").stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in directory.iterdir()] == ["name"]


async def test_access_is_narrowed_when_a_value_replaces_an_open_file(store: SecretsFileImpl, directory: Path) -> None:
    (directory / "name").write_text("old")
    (directory / "name").chmod(0o644)
    await store.put("name", SecretStr("new"))
    assert (directory / "name").stat().st_mode & 0o777 == 0o600
    assert (await store.get("file:name")).get_secret_value() == "new"


async def test_a_reader_sees_a_whole_value_when_it_is_replaced_meanwhile(store: SecretsFileImpl) -> None:
    values = {letter * 10_000 for letter in "ab"}
    await store.put("name", SecretStr("a" * 10_000))
    writes = [store.put("name", SecretStr(value)) for value in sorted(values) * 5]
    reads = [store.get("file:name") for _ in range(20)]
    _, seen = await asyncio.gather(asyncio.gather(*writes), asyncio.gather(*reads))
    assert {secret.get_secret_value() for secret in seen} <= values


@pytest.mark.parametrize("name", ["", "..", "../name", "a/b", ".hidden", "nul\0", "x" * 101])
async def test_nothing_is_written_when_the_name_is_not_safe(store: SecretsFileImpl, directory: Path, name: str) -> None:
    with pytest.raises(ValueError, match="a secret's name must be"):
        await store.put(name, SecretStr("value"))
    assert is_empty(directory)


@pytest.mark.parametrize("value", ["", "\ud800" + HIDDEN, HIDDEN + "x" * MAX_SECRET_BYTES])
async def test_nothing_is_written_or_shown_when_the_value_is_out_of_range(
    store: SecretsFileImpl, directory: Path, value: str
) -> None:
    with pytest.raises(ValueError, match="a secret must be text of 1 to") as caught:
        await store.put("name", SecretStr(value))
    assert is_empty(directory)
    assert HIDDEN not in repr(caught.value)
    assert caught.value.__context__ is None


async def test_the_fault_is_told_when_the_directory_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BackendUnavailable, match="secret file:name cannot be written"):
        await SecretsFileImpl(tmp_path / "file").put("name", SecretStr("value"))
