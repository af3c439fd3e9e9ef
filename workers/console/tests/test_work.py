from pathlib import Path
from uuid import uuid4

import pytest

from headrace.om.context import Role
from headrace.om.work.types.kinds import WorkKind
from workers.console.tests.command_line import CommandLine


def enqueued(line: CommandLine, *options: str) -> str:
    found: str = line.json("work", "enqueue", "NOOP", *options)["item"]["id"]
    return found


def test_an_item_is_enqueued_with_every_option(signed_in: CommandLine) -> None:
    options = ("--lane", "slow", "--priority", "-5", "--max-attempts", "7", "--origin", "tests", "--key", "k")
    item = signed_in.json("work", "enqueue", "noop", "--payload", '{"note": "hello"}', *options)["item"]
    assert (item["kind"], item["lane"], item["priority"], item["max_attempts"]) == ("NOOP", "slow", -5, 7)
    assert (item["origin"], item["idempotency_key"], item["payload"]) == ("tests", "k", {"note": "hello"})
    assert (item["status"], item["available_at"]) == ("queued", item["available_at"])


def test_an_item_waits_when_a_delay_is_given(signed_in: CommandLine) -> None:
    item = signed_in.json("work", "enqueue", "NOOP", "--delay", "5m")["item"]
    assert item["available_at"] > item["created_at"]


def test_a_second_enqueue_finds_the_first_under_its_key(signed_in: CommandLine) -> None:
    first = signed_in.json("work", "enqueue", "NOOP", "--key", "k")
    second = signed_in.json("work", "enqueue", "NOOP", "--key", "k")
    assert (first["is_new"], second["is_new"]) == (True, False)
    assert first["item"]["id"] == second["item"]["id"]
    assert "was there already under its key: " in signed_in.run("work", "enqueue", "NOOP", "--key", "k").stdout


def test_an_item_that_is_there_in_what_it_is_unique_for_is_not_said_to_have_its_key(signed_in: CommandLine) -> None:
    asked = ("work", "enqueue", "NOOP", "--payload", '{"note": "a"}', "--unique-for", "note")
    first = signed_in.json(*asked, "--key", "one")["item"]
    for others in ((), ("--key", "two")):
        assert signed_in.run(*asked, *others).stdout == f"was there already: NOOP {first['id']}, queued\n"


def test_a_payload_is_read_from_standard_input_and_from_a_file(signed_in: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "payload.json").write_text('{"note": "file"}', encoding="utf-8")
    by_pipe = signed_in.json(
        "work", "enqueue", "NOOP", "--payload", "-", given='{"note": "Grüße \U0001f469\u200d\U0001f680"}'
    )
    by_file = signed_in.json("work", "enqueue", "NOOP", "--payload", "@payload.json")
    assert by_pipe["item"]["payload"] == {"note": "Grüße \U0001f469\u200d\U0001f680"}
    assert by_file["item"]["payload"] == {"note": "file"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("NOPE",), f"usage: Invalid value for KIND: there is no kind 'NOPE'; there are: {', '.join(WorkKind)}"),
        (("NOOP", "--payload", "{"), "usage: Invalid value for --payload: expected JSON"),
        (("NOOP", "--delay", "9999999d"), "usage: Invalid value for --delay: expected one that ends before 9000"),
        (("NOOP", "--delay", "2900000d"), "usage: Invalid value for --delay: expected one that ends before 9000"),
        (("NOOP", "--payload", "[1]"), "usage: Invalid value for --payload: expected a JSON object"),
        (("NOOP", "--payload", '{"note": NaN}'), "usage: Invalid value for --payload: expected JSON: NaN is not JSON"),
        (("NOOP", "--payload", "@missing"), "usage: Invalid value for --payload: expected JSON, - for standard input"),
        (("NOOP", "--delay", "soon"), "usage: Invalid value for --delay: expected a duration"),
        (("NOOP", "--priority", "40000"), "usage: Invalid value for '--priority'"),
        (("NOOP", "--max-attempts", "0"), "usage: Invalid value for '--max-attempts'"),
        (("NOOP", "--colour"), "usage: No such option"),
        ((), "usage: Missing argument"),
    ],
)
def test_usage_is_refused_with_2_when_an_option_makes_no_sense(
    signed_in: CommandLine, options: tuple[str, ...], sentence: str
) -> None:
    assert signed_in.refused("work", "enqueue", *options, exit_code=2).startswith(sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--payload", r'{"note": "a\u0000b"}'), "payload.note: expected text without NUL characters"),
        (("--payload", r'{"note": "\ud800"}'), "payload.note: "),
        (("--payload", '{"other": 1}'), "payload.other: expected a payload of NOOP"),
        (("--payload", '{"note": "\udcff"}'), "payload.note: "),
        (("--lane", ""), "lane: "),
        (("--lane", "x" * 101), "lane: "),
        (("--key", "x" * 201), "idempotency_key: "),
        (("--key", "bundle:1"), "idempotency_key: expected a key that does not begin with bundle: or schedule:"),
        (("--unique-for", ""), "unique_for: "),
    ],
)
def test_what_cannot_be_stored_is_refused_with_2_as_well(
    signed_in: CommandLine, options: tuple[str, ...], sentence: str
) -> None:
    said = signed_in.refused("work", "enqueue", "NOOP", *options, exit_code=2)
    assert said.startswith(("validation_failed: ", "work_payload_refused: "))
    assert f": {sentence}" in said


def test_items_are_listed_newest_first_and_page_by_page(signed_in: CommandLine) -> None:
    ids = [enqueued(signed_in) for _ in range(3)]
    first = signed_in.json("work", "list", "--limit", "2")
    second = signed_in.json("work", "list", "--limit", "2", "--after", first["next"])
    assert [item["id"] for item in first["items"]] == ids[:0:-1]
    assert ([item["id"] for item in second["items"]], second["next"]) == (ids[:1], None)


def test_filters_narrow_the_list(signed_in: CommandLine) -> None:
    wanted = enqueued(signed_in, "--lane", "slow", "--origin", "me")
    enqueued(signed_in)
    narrow = ("--lane", "slow", "--origin", "me", "--kind", "noop", "--status", "QUEUED", "--without-error")
    found = signed_in.json("work", "list", *narrow)["items"]
    assert [item["id"] for item in found] == [wanted]
    assert signed_in.json("work", "list", "--with-error")["items"] == []
    assert signed_in.json("work", "list", "--started-before", "2020-01-01T00:00:00Z")["items"] == []


def test_an_empty_list_says_so(signed_in: CommandLine) -> None:
    assert signed_in.run("work", "list").stdout == "no work item is like that\n"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--status", "lost"),
        ("--kind", "x"),
        ("--bundle", "b"),
        ("--started-before", "y"),
        ("--started-before", "9999-12-31T23:59:59-14:00"),
        ("--started-before", "0001-01-01T00:00:00+14:00"),
        ("--after", "z"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_with_2_and_named(
    signed_in: CommandLine, option: str, value: str
) -> None:
    said = signed_in.refused("work", "list", option, value, exit_code=2)
    assert said.startswith(f"usage: Invalid value for {option}: ")


def test_an_item_is_shown_without_its_claim_token(signed_in: CommandLine) -> None:
    item_id = enqueued(signed_in, "--payload", '{"note": "first\\nsecond \\u001b[31m"}')
    assert "claim_token" not in signed_in.json("work", "show", item_id)["item"]
    shown = signed_in.run("work", "show", item_id).stdout
    assert item_id in shown
    assert "\x1b" not in shown


def test_a_queued_item_is_cancelled_and_then_retried(signed_in: CommandLine) -> None:
    item_id = enqueued(signed_in)
    assert signed_in.json("work", "cancel", item_id)["item"]["status"] == "cancelled"
    assert signed_in.json("work", "retry", item_id)["item"]["status"] == "queued"
    assert signed_in.run("work", "cancel", item_id).stdout == f"NOOP {item_id} is cancelled\n"
    assert signed_in.run("work", "retry", item_id).stdout == f"NOOP {item_id} is queued again\n"


def test_an_item_in_the_wrong_state_is_refused(signed_in: CommandLine) -> None:
    item_id = enqueued(signed_in)
    assert "cannot be retried" in signed_in.refused("work", "retry", item_id)


@pytest.mark.parametrize("verb", ["show", "retry", "cancel"])
def test_an_unknown_or_malformed_id_is_refused(signed_in: CommandLine, verb: str) -> None:
    assert signed_in.refused("work", verb, str(uuid4())).startswith("work_item_not_found: ")
    assert signed_in.refused("work", verb, "no-id", exit_code=2).startswith(
        "usage: Invalid value for ID: expected an id"
    )


def test_another_orgs_item_is_not_found(signed_in: CommandLine) -> None:
    item_id = enqueued(signed_in)
    other = CommandLine(signed_in.folder, storage=signed_in.storage)
    with pytest.raises(AssertionError, match="api_key_missing"):
        other.json("work", "show", item_id)


def test_a_viewer_may_look_and_not_touch(line: CommandLine) -> None:
    line.sign_in(Role.VIEWER)
    assert line.json("work", "list")["items"] == []
    assert line.refused("work", "enqueue", "NOOP").startswith("not_authorized: ")
