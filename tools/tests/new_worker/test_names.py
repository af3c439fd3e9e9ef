"""Which names are refused, and with which sentence."""

import pytest

from headrace.tools.new_worker.exceptions import WrongNameError
from headrace.tools.new_worker.inventory import Inventory
from headrace.tools.new_worker.names import check_kind, check_lane, check_worker_name

INVENTORY = Inventory(
    workers=("kit", "maintenance", "webhook-dispatcher"),
    kinds={"NOOP": "maintenance", "DELIVER_WEBHOOK": "webhook-dispatcher", "SPARE": None},
    ports={},
    packages=frozenset({"headrace", "om", "infra", "tools", "workers", "worker_kit", "httpx", "typing_extensions"}),
)

WRONG_WORKERS = {
    "": "The worker's name is empty",
    "../escape": "is a path",
    "a/b": "is a path",
    "a\\b": "is a path",
    ".hidden": "is a path",
    "~root": "is a path",
    "Shipment": "has upper-case letters",
    "shipment_notifier": "has an underscore",
    "2fast": "begins with a digit",
    "two words": "has ' ' in it",
    "naïve": "has 'ï' in it",
    "ship\n": "has '\\n' in it",
    "ship;rm": "has ';' in it",
    "-dash": "has a hyphen too many",
    "dash-": "has a hyphen too many",
    "a--b": "has a hyphen too many",
    "a": "is one character long",
    "a" * 41: "is 41 characters long",
    "kit": "is the library that every worker is built on",
    "worker": "would hide WorkerSettings",
    "tests": "is a folder name",
    "class": "is a keyword of Python",
    "match": "is a keyword of Python",
    "json": "is the name of Python's own module json",
    "http": "is the name of Python's own module http",
    "maintenance": "exists in workers/maintenance",
    "web-hook-dispatcher": "differs only in case, hyphens or underscores from the worker in workers/webhook-dispatcher",
    "om": "would be the package om",
    "worker-kit": "would be the package worker_kit",
    "typing-extensions": "would be the package typing_extensions",
}

WRONG_KINDS = {
    "": "The kind is empty",
    "../ESCAPE": "is a path",
    "Notify": "has lower-case letters",
    "notify_shipment": "has lower-case letters",
    "2FAST": "begins with a digit",
    "NOTIFY-SHIPMENT": "has '-' in it",
    "NOTIFY SHIPMENT": "has ' ' in it",
    "ÜBER": "has 'Ü' in it",
    "_NOTIFY": "has an underscore too many",
    "NOTIFY_": "has an underscore too many",
    "NOTIFY__SHIPMENT": "has an underscore too many",
    "N": "is one character long",
    "N" * 51: "is 51 characters long",
    "IMPORT": "is a keyword of Python",
    "WORK": "would hide WorkPayload",
    "NOOP": "the worker maintenance handles it",
    "DELIVER_WEB_HOOK": "differs only in case, hyphens or underscores from the kind DELIVER_WEBHOOK",
}


@pytest.mark.parametrize(("name", "sentence"), WRONG_WORKERS.items())
def test_worker_name_is_refused_with_its_own_sentence(name: str, sentence: str) -> None:
    with pytest.raises(WrongNameError) as refused:
        check_worker_name(name, INVENTORY, is_generated=False)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(("kind", "sentence"), WRONG_KINDS.items())
def test_kind_is_refused_with_its_own_sentence(kind: str, sentence: str) -> None:
    with pytest.raises(WrongNameError) as refused:
        check_kind(kind, "shipment-notifier", INVENTORY)
    assert sentence in str(refused.value)


def test_every_sort_of_fault_is_told_apart() -> None:
    for sentences in (WRONG_WORKERS.values(), WRONG_KINDS.values()):
        assert len({sentence.split("'")[0] for sentence in sentences}) >= 8


@pytest.mark.parametrize("name", ["ab", "shipment-notifier", "a1", "x-2-y", "a" * 40, "jsonl", "kits", "z9-9"])
def test_worker_name_is_taken_when_it_can_be_a_package(name: str) -> None:
    check_worker_name(name, INVENTORY, is_generated=False)


def test_worker_name_is_taken_when_it_was_generated_before() -> None:
    check_worker_name("webhook-dispatcher", INVENTORY, is_generated=True)


@pytest.mark.parametrize("kind", ["OK", "NOTIFY_SHIPMENT", "A1_B2", "SPARE", "CLASSES"])
def test_kind_is_taken_when_nobody_handles_it(kind: str) -> None:
    check_kind(kind, "shipment-notifier", INVENTORY)


def test_kind_is_taken_when_the_worker_handles_it_already() -> None:
    check_kind("NOOP", "maintenance", INVENTORY)


@pytest.mark.parametrize(
    "lane", ["", "Fast", "a b", 'a"b', "-a", "a..b", "x" * 101, "\N{LATIN SMALL LETTER A WITH ACUTE}"]
)
def test_lane_is_refused_when_it_would_need_quoting(lane: str) -> None:
    with pytest.raises(WrongNameError, match="is no name for a lane"):
        check_lane(lane)


@pytest.mark.parametrize("lane", ["default", "bulk-2", "eu.west_1"])
def test_lane_is_taken_when_it_is_plain(lane: str) -> None:
    check_lane(lane)
