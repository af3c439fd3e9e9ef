import tomllib
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.text import Index, addresses, hydrate, index_of, strip
from tools.tests.lock.locks import INDEX, LEAF_FILE, MIRROR, STRIPPED


@pytest.mark.parametrize("index", [INDEX, MIRROR], ids=["index", "mirror"])
def test_the_lock_comes_back_when_hydrated_and_stripped(index: Index) -> None:
    assert strip(hydrate(STRIPPED, index)) == STRIPPED


@given(host=st.from_regex(r"[a-z]{1,9}(\.[a-z]{1,5}){0,2}(:[1-9][0-9]{1,4})?", fullmatch=True))
def test_no_host_is_left_when_stripped(host: str) -> None:
    lock = hydrate(STRIPPED, Index(registry=f"https://{host}/simple", files=f"https://{host}/packages/"))
    assert addresses(strip(lock)) == []


def test_every_package_and_file_has_the_index_when_hydrated() -> None:
    lock = hydrate(STRIPPED, MIRROR)
    leaf = next(each for each in tomllib.loads(lock)["package"] if each["name"] == "leaf")
    assert leaf["source"] == {"registry": MIRROR.registry}
    assert leaf["wheels"][0]["url"] == MIRROR.files + LEAF_FILE
    assert {urlsplit(address).hostname for address in addresses(lock)} == {"mirror.example"}


def test_hashes_and_sizes_are_kept_when_stripped() -> None:
    leaf = next(each for each in tomllib.loads(strip(hydrate(STRIPPED, INDEX)))["package"] if each["name"] == "leaf")
    assert (leaf["wheels"][0]["hash"], leaf["wheels"][0]["size"]) == ("sha256:11", 1)


def test_nothing_changes_when_stripped_twice() -> None:
    assert strip(STRIPPED) == STRIPPED


def test_a_file_is_refused_when_its_url_has_no_packages_part() -> None:
    lock = STRIPPED.replace(LEAF_FILE, "https://other.example/files/leaf.whl")
    with pytest.raises(LockError, match=r"names https://other\.example/files/leaf\.whl, which has no /packages/"):
        strip(lock)


def test_a_source_outside_an_index_is_refused_when_stripped() -> None:
    lock = STRIPPED.replace('editable = "own"', 'git = "https://forge.example/own?rev=1"')
    with pytest.raises(LockError, match=r"still names https://forge\.example/own\?rev=1;"):
        strip(lock)


@pytest.mark.parametrize("index", [INDEX, MIRROR], ids=["index", "mirror"])
def test_the_index_is_found_when_a_fresh_lock_holds_the_file(index: Index) -> None:
    assert index_of(hydrate(STRIPPED, index), LEAF_FILE) == index


def test_one_sentence_says_what_to_do_when_the_index_names_files_otherwise() -> None:
    probe = hydrate(STRIPPED, INDEX).replace(LEAF_FILE, "+f/0123/leaf-1.0-py3-none-any.whl")
    with pytest.raises(LockError, match="run `uv sync --all-extras` instead"):
        index_of(probe, LEAF_FILE)
