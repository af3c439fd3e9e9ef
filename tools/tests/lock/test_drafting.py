import tomllib
from pathlib import Path

import pytest

from headrace.tools.lock.drafting import Member, draft_stanza
from headrace.tools.lock.parts import HEADER, WORKERS, stanzas_of
from headrace.tools.lock.workspace import Workspace, read_host_free
from tools.tests.lock.locks import PROJECTS, WORKSPACE

STANZAS = stanzas_of(WORKSPACE)
MEMBERS = [
    Member(tomllib.loads(PROJECTS[folder]), STANZAS[name])
    for folder, name in [
        ("library", "library"),
        ("workers/bird-feeder", "bird-feeder"),
        ("workers/mail", "mail-sorter"),
    ]
]
REPOSITORY = Path(__file__).parents[3]


def draft(project: str) -> str | None:
    return draft_stanza("new", tomllib.loads(project), MEMBERS)


def test_uvs_own_words_come_out_when_every_requirement_is_known() -> None:
    project = '[project]\nname = "Bird_Feeder"\nversion = "0.1.0"\ndependencies = ["library", "leaf>=1"]\n'
    assert draft(project) == STANZAS["bird-feeder"].replace("workers/bird-feeder", "workers/new")


def test_nothing_is_listed_when_a_worker_requires_nothing() -> None:
    expected = '[[package]]\nname = "new"\nversion = "1"\nsource = { editable = "workers/new" }\n'
    assert draft('[project]\nname = "new"\nversion = "1"\n') == expected


@pytest.mark.parametrize(
    "rest",
    [
        'dependencies = ["leaf>=2"]',
        'dependencies = ["branch"]',
        'dependencies = ["-no name"]',
        'optional-dependencies = { more = ["leaf>=1"] }',
        'dynamic = ["readme"]',
        '[dependency-groups]\ndev = ["leaf>=1"]',
    ],
)
def test_it_is_left_to_uv_when_only_uv_can_tell(rest: str) -> None:
    assert draft(f'[project]\nname = "new"\nversion = "1"\n{rest}\n') is None


def test_it_is_left_to_uv_when_the_project_has_no_version() -> None:
    assert draft('[project]\nname = "new"\n') is None


def test_it_is_left_to_uv_when_a_member_asks_for_the_package_twice() -> None:
    twice = Member(
        {"project": {"dependencies": ["leaf>=1", "leaf<9"]}},
        STANZAS["bird-feeder"].replace(
            '    { name = "leaf", specifier = ">=1" },\n',
            '    { name = "leaf", specifier = "<9" },\n    { name = "leaf", specifier = ">=1" },\n',
        ),
    )
    project = {"project": {"name": "new", "version": "1", "dependencies": ["leaf>=1"]}}
    assert draft_stanza("new", project, [twice]) is None


def test_uvs_own_words_come_out_for_workers_of_this_repository() -> None:
    tree = Workspace(REPOSITORY, uv="uv")
    stanzas = stanzas_of(read_host_free(tree))
    others = [Member(tree.project(WORKERS, name), stanzas[f"headrace-{name}"]) for name in ("webhook-dispatcher",)]
    drafted = draft_stanza("maintenance", tree.project(WORKERS, "maintenance"), others)
    assert f"{HEADER}{drafted}" == tree.part("maintenance").read_text()
