from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from headrace.om.base import EMPTY_UUID
from headrace.om.root import Managers
from headrace.om.work.types.kinds import WorkKind
from workers.console.tests.command_line import CommandLine, new_rctx

NO_ORG = str(EMPTY_UUID)

ORG = UUID("01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d")


def claimed(line: CommandLine, limit: int = 100) -> int:
    """How many items a worker claims now."""

    async def claim(managers: Managers) -> int:
        pairs = await managers.work.claim_many(new_rctx(), "default", [WorkKind.NOOP], "w", timedelta(minutes=1), limit)
        return len(pairs)

    return line.ask(claim)


def enqueue(line: CommandLine, num_items: int) -> None:
    for _ in range(num_items):
        line.json("work", "enqueue", "NOOP")


@pytest.mark.parametrize(
    ("command", "said", "kept"),
    [
        (("kind", "noop", "5"), "running of kind NOOP, at most 5", {"scope": "kind", "kind": "NOOP", "max_running": 5}),
        (("org", "each", "7"), "running of each org, at most 7", {"scope": "org", "org_id": None, "max_running": 7}),
        (
            ("org", str(ORG), "7", "--kind", "NOOP"),
            f"running of org {ORG}, kind NOOP, at most 7",
            {"scope": "org", "org_id": str(ORG), "kind": "NOOP"},
        ),
        (("key", "NOOP", "2"), "running of each concurrency key, kind NOOP, at most 2", {"scope": "key"}),
        (
            ("rate", "NOOP", "30", "--per", "1m", "--burst", "3"),
            "beginning of kind NOOP, at most 0.5 a second, 3 at once",
            {"kind": "NOOP", "per_second": 0.5, "burst": 3},
        ),
    ],
)
def test_what_is_said_is_told_listed_and_taken_back(
    line: CommandLine, command: tuple[str, ...], said: str, kept: dict[str, object]
) -> None:
    assert said in line.run("work", "limits", *command).stdout
    controls = line.json("work", "limits", "list")
    (found,) = controls["limits"] + controls["rates"]
    assert {name: found[name] for name in kept} == kept
    ended = (command[0], command[1], "none", *command[3:])
    assert [line.json("work", "limits", *ended)["was_said"] for _ in range(2)] == [True, False]
    assert "nothing bounds claims" in line.run("work", "limits", "list").stdout


def test_a_limit_holds_for_the_next_claim(signed_in: CommandLine) -> None:
    enqueue(signed_in, 4)
    signed_in.json("work", "limits", "kind", "NOOP", "3")
    assert claimed(signed_in) == 3
    signed_in.json("work", "limits", "kind", "NOOP", "none")
    assert claimed(signed_in) == 1


@pytest.mark.parametrize("what", [("--lane", "default"), ("--kind", "NOOP")])
def test_a_pause_holds_until_it_is_ended_and_is_shown_in_the_status(
    signed_in: CommandLine, what: tuple[str, str]
) -> None:
    enqueue(signed_in, 2)
    assert "paused" in signed_in.run("work", "pause", *what).stdout
    assert claimed(signed_in) == 0
    assert what[1] in signed_in.run("status").stdout.partition("paused")[2].partition("\n")[0]
    assert len(signed_in.json("status")["work"]["pauses"]) == 1
    signed_in.json("work", "resume", *what)
    assert claimed(signed_in) == 2
    assert signed_in.json("status")["work"]["pauses"] == []


def test_another_orgs_pause_is_not_shown_in_the_status(signed_in: CommandLine) -> None:
    signed_in.json("work", "pause", "--org", str(uuid4()))
    assert signed_in.json("status")["work"]["pauses"] == []
    own = signed_in.json("status")["org"]["id"]
    signed_in.json("work", "pause", "--org", own)
    assert [pause["org_id"] for pause in signed_in.json("status")["work"]["pauses"]] == [own]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("limits", "kind", "NOPE", "1"), "Invalid value for KIND: there is no kind 'NOPE'"),
        (("limits", "kind", "NOOP", "0"), "Invalid value for NUMBER: expected a number from 1 on, or none, got '0'"),
        (("limits", "kind", "NOOP", "9" * 5000), "Invalid value for NUMBER: expected at most 18 digits, got 5000"),
        (("limits", "rate", "NOOP", "9" * 400), "Invalid value for NUMBER: expected at most 18 digits, got 400"),
        (("limits", "kind", "NOOP", "few"), "expected a number from 1 on, or none, got 'few'"),
        (("limits", "org", "acme", "1"), "Invalid value for ORG: expected each, or an org's id"),
        (("limits", "rate", "NOOP", "1", "--per", "0s"), "expected a time above zero"),
        (("limits", "org", NO_ORG, "1"), "org_id: expected an org's id"),
        (("pause",), "Invalid value for --lane, --kind, --org: expected exactly one of them"),
        (("resume", "--lane", "a", "--kind", "NOOP"), "--lane, --kind, --org: expected exactly one of them"),
        (("pause", "--kind", "NOPE"), "Invalid value for --kind: there is no kind"),
        (("pause", "--org", "acme"), "Invalid value for --org: expected an id"),
        (("pause", "--org", NO_ORG), "org_id: expected an org's id"),
    ],
)
def test_what_makes_no_sense_is_refused(line: CommandLine, command: tuple[str, ...], sentence: str) -> None:
    assert sentence in line.refused("work", *command, exit_code=2)


def test_items_are_enqueued_with_a_key(signed_in: CommandLine) -> None:
    item = signed_in.json("work", "enqueue", "NOOP", "--ordering-key", "account-1")["item"]
    assert item["ordering_key"] == "account-1"
    item = signed_in.json("work", "enqueue", "NOOP", "--concurrency-key", "account-1")["item"]
    assert item["concurrency_key"] == "account-1"
    both = ("--ordering-key", "a", "--concurrency-key", "b")
    assert "ordering_key" in signed_in.refused("work", "enqueue", "NOOP", *both, exit_code=2)
