from pathlib import Path

import pytest

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.parts import HEADER, Parts, join, split
from headrace.tools.lock.workspace import Workspace, read_host_free
from tools.tests.lock.locks import STRIPPED, WORKSPACE

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("lock", [WORKSPACE, STRIPPED], ids=["workers", "no workers"])
def test_the_lock_comes_back_when_split_and_joined(lock: str) -> None:
    assert join(split(lock)) == lock


def test_each_worker_has_its_stanza_under_its_folder_when_split() -> None:
    workers = split(WORKSPACE).workers
    assert sorted(workers) == ["bird-feeder", "mail"]
    assert workers["mail"].startswith(f'{HEADER}[[package]]\nname = "mail-sorter"\n')


def test_the_shared_part_tells_nothing_of_workers_when_split() -> None:
    shared = split(WORKSPACE).shared
    assert 'members = [\n    "library",\n]\n' in shared
    assert not any(name in shared for name in ("bird-feeder", "mail-sorter", "workers/"))


def test_the_shared_part_stays_when_a_worker_is_left_out() -> None:
    parts = split(WORKSPACE)
    fewer = join(Parts(parts.shared, {"mail": parts.workers["mail"]}))
    assert split(fewer).shared == parts.shared
    assert "bird-feeder" not in fewer


def test_the_order_of_the_parts_does_not_matter_when_joined() -> None:
    parts = split(WORKSPACE)
    assert join(Parts(parts.shared, dict(sorted(parts.workers.items(), reverse=True)))) == WORKSPACE


@pytest.mark.parametrize(
    "part",
    ["", "note = 1\n", split(WORKSPACE).workers["bird-feeder"], split(WORKSPACE).workers["mail"] + "\n[[package]]\n"],
    ids=["empty", "something else", "another worker's", "two stanzas"],
)
def test_a_part_is_refused_when_it_is_not_about_its_folder_alone(part: str) -> None:
    with pytest.raises(
        LockError, match=r"^workers/mail/lock\.toml is not about workers/mail alone; run `make lock`\.$"
    ):
        join(Parts(split(WORKSPACE).shared, {"mail": part}))


def test_the_own_lock_of_this_repository_comes_back_when_joined_and_split() -> None:
    tree = Workspace(REPOSITORY, uv="uv")
    parts = split(read_host_free(tree))
    assert parts.shared == tree.host_free.read_text()
    assert parts.workers == {folder: tree.part(folder).read_text() for folder in tree.workers()}
