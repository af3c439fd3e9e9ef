"""The service in the full compose file."""

from itertools import permutations

import pytest
from ruamel.yaml import YAML

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome
from headrace.tools.new_worker.rendering.compose_edit import add_service, remove_service

PORT = 9300
COMPOSE = """\
# Everything as containers.
name: acme

x-worker: &worker
  read_only: true  # nothing is written

services:
  migrate:
    build: {context: ../.., dockerfile: deployment/docker/console.Dockerfile}

  # Sweeps.
  baker: {<<: *worker, build: {context: ../.., dockerfile: deployment/docker/baker.Dockerfile}, ports: ["127.0.0.1::1"]}
  # Delivers, and was made longer by somebody.
  notifier:
    <<: *worker
    build: {context: ../.., dockerfile: deployment/docker/notifier.Dockerfile}
    ports: ["127.0.0.1::9102"]
"""
MORE = f"{COMPOSE}\nvolumes:\n  postgres:\n"
NEW = ("abacus", "cook", "zebra")

files = pytest.mark.parametrize("text", [COMPOSE, MORE], ids=["services last", "more behind them"])


def done(outcome: EditOutcome) -> str:
    assert isinstance(outcome, Done), outcome
    return outcome.text


@files
def test_the_service_is_built_and_shaped_as_the_other_workers(text: str) -> None:
    services = YAML(typ="safe", pure=True).load(done(add_service("cook", PORT, text)))["services"]
    assert list(services) == ["migrate", "baker", "cook", "notifier"]
    assert services["cook"] == {
        "read_only": True,
        "build": {"context": "../..", "dockerfile": "deployment/docker/cook.Dockerfile"},
        "ports": ["127.0.0.1::9300"],
    }


def test_a_service_is_one_line_so_that_two_branches_can_add_theirs() -> None:
    before = COMPOSE.splitlines()
    assert len(done(add_service("cook", PORT, COMPOSE)).splitlines()) == len(before) + 1


@files
def test_every_line_that_was_there_stays_when_a_service_is_added(text: str) -> None:
    grown = done(add_service("cook", PORT, text))
    assert [line for line in grown.splitlines() if line in text.splitlines()]
    assert grown.index("# Delivers") > grown.index("cook:") > grown.index("baker.Dockerfile")
    assert set(text.splitlines()) <= set(grown.splitlines())


@files
def test_the_first_text_comes_back_when_services_are_taken_out_in_any_order(text: str) -> None:
    full = text
    for name in NEW:
        full = done(add_service(name, PORT, full))
    for order in permutations(NEW):
        left = full
        for name in order:
            left = done(remove_service(name, PORT, left))
        assert left == text


@files
def test_the_same_text_comes_out_whatever_the_order_of_adding(text: str) -> None:
    results = set()
    for order in permutations(NEW):
        grown = text
        for name in order:
            grown = done(add_service(name, PORT, grown))
        results.add(grown)
    assert len(results) == 1


@files
def test_nothing_is_changed_when_it_is_there_or_gone_already(text: str) -> None:
    assert isinstance(add_service("cook", PORT, done(add_service("cook", PORT, text))), AlreadyThere)
    assert isinstance(remove_service("cook", PORT, text), AlreadyThere)


def test_the_line_ends_as_those_of_the_file_do() -> None:
    text = COMPOSE.replace("\n", "\r\n")
    grown = done(add_service("cook", PORT, text))
    assert grown.count("\n") == grown.count("\r\n") == text.count("\n") + 1
    assert done(remove_service("cook", PORT, grown)) == text


def test_a_service_that_was_edited_is_not_taken_out() -> None:
    edited = done(add_service("cook", PORT, COMPOSE)).replace("::9300", ":8080:9300")
    outcome = remove_service("cook", PORT, edited)
    assert isinstance(outcome, Cannot)
    assert "cook was edited" in outcome.help


def test_a_service_of_the_name_that_is_no_worker_is_refused() -> None:
    outcome = add_service("migrate", PORT, COMPOSE)
    assert isinstance(outcome, Cannot)
    assert "a service migrate that is no worker's" in outcome.help


@pytest.mark.parametrize(
    "text",
    [
        "services: [",
        "[]\n",
        "services: {}\n",
        COMPOSE.replace("&worker", "&other").replace("*worker", "*other"),
        COMPOSE.replace("docker/baker", "docker/x").replace("docker/notifier", "docker/y"),
        COMPOSE.rstrip(),
    ],
    ids=["no YAML", "no mapping", "no services", "no common block", "no workers", "no last line end"],
)
def test_a_file_of_another_shape_is_refused_with_what_to_write(text: str) -> None:
    outcome = add_service("cook", PORT, text)
    assert isinstance(outcome, Cannot)
    assert "  cook: {<<: *worker, build: " in outcome.help


def test_a_file_of_another_shape_is_refused_when_a_service_is_to_go() -> None:
    assert isinstance(remove_service("cook", PORT, "[]\n"), Cannot)
