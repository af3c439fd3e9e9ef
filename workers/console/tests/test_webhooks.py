import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from headrace.om.webhooks.rules import secret_name
from workers.console.tests.command_line import CommandLine


def added(line: CommandLine, *options: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = line.json("webhooks", "endpoint", "add", "https://example.com/hook", *options)
    return found


def test_an_endpoint_is_added_with_a_generated_secret(signed_in: CommandLine) -> None:
    document = signed_in.json(
        "webhooks", "endpoint", "add", "https://example.com/hook", "--event", "a.b", "--event", "c"
    )
    endpoint, secret = document["endpoint"], document["signing_secret"]
    assert (endpoint["name"], endpoint["event_types"], endpoint["enabled"]) == ("example.com", ["a.b", "c"], True)
    stored = signed_in.folder / "secrets" / endpoint["secret_reference"].removeprefix("file:")
    assert stored.read_text(encoding="ascii").strip() == secret
    assert secret.startswith("whsec_")
    assert secret not in signed_in.run("webhooks", "endpoint", "list", "--json").stdout


def test_no_secret_is_generated_when_one_is_referred_to(line: CommandLine) -> None:
    reference = f"env:{secret_name(line.sign_in().org_id, 'MINE')}"
    options = ("--secret-reference", reference, "--name", "shop")
    document = line.json("webhooks", "endpoint", "add", "https://example.com/", *options)
    assert document["signing_secret"] is None
    assert (document["endpoint"]["secret_reference"], document["endpoint"]["name"]) == (reference, "shop")
    assert not (line.folder / "secrets").exists()


def test_another_orgs_secret_is_refused(signed_in: CommandLine) -> None:
    foreign = f"env:{secret_name(uuid4(), 'THEIRS')}"
    said = signed_in.refused(
        "webhooks", "endpoint", "add", "https://example.com/", "--secret-reference", foreign, exit_code=2
    )
    assert said.startswith("validation_failed: secret_reference: ")


def test_a_secret_without_a_place_to_keep_it_is_refused(signed_in: CommandLine) -> None:
    signed_in.changes["secrets_dir"] = None
    said = signed_in.refused("webhooks", "endpoint", "add", "https://example.com/")
    assert said.startswith("secrets_store_missing: ")
    assert signed_in.json("webhooks", "endpoint", "list")["endpoints"] == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("ftp://example.com/",), "url: "),
        (("https://user:pw@example.com/",), "url: "),
        (("https://example.com/", "--event", "Not An Event"), "event_types[0]: "),
        (("https://example.com/", "--secret-reference", "whsec_c2VjcmV0"), "secret_reference: "),
        (("https://example.com/", "--name", ""), "name: "),
        (("https://example.com/", "--name", "a\x00b"), "name: "),
    ],
)
def test_an_endpoint_that_cannot_work_is_refused(signed_in: CommandLine, options: tuple[str, ...], field: str) -> None:
    said = signed_in.refused("webhooks", "endpoint", "add", *options, exit_code=2)
    assert field in said
    assert "pw@" not in said
    assert "whsec_" not in said
    assert not list(signed_in.folder.glob("secrets/*"))


def test_endpoints_are_listed_page_by_page(signed_in: CommandLine) -> None:
    for _ in range(3):
        added(signed_in)
    first = signed_in.json("webhooks", "endpoint", "list", "--limit", "2")
    rest = signed_in.json("webhooks", "endpoint", "list", "--limit", "2", "--after", first["next"])
    assert (len(first["endpoints"]), len(rest["endpoints"]), rest["next"]) == (2, 1, None)
    assert "more: --after" in signed_in.run("webhooks", "endpoint", "list", "--limit", "2").stdout


def test_a_disabled_endpoint_is_enabled(signed_in: CommandLine) -> None:
    owner_line = signed_in.json("webhooks", "endpoint", "add", "https://example.com/", "--name", "shop")
    endpoint_id = owner_line["endpoint"]["id"]
    said = signed_in.run("webhooks", "endpoint", "enable", endpoint_id)
    assert said.stdout == f"shop {endpoint_id} is enabled\n"
    assert signed_in.json("webhooks", "endpoint", "enable", endpoint_id)["endpoint"]["enabled"] is True
    assert signed_in.refused("webhooks", "endpoint", "enable", str(uuid4())).startswith("webhook_endpoint_not_found: ")


def test_a_message_goes_to_each_endpoint_that_wants_it(signed_in: CommandLine) -> None:
    wanting = added(signed_in, "--event", "order.created")["endpoint"]
    added(signed_in, "--event", "order.cancelled")
    document = signed_in.json("webhooks", "publish", "--event", "order.created", "--data", '{"n": 1.0}')
    assert [each["endpoint_id"] for each in document["deliveries"]] == [wanting["id"]]
    assert "body" not in document["message"]
    assert document["message"]["body_bytes"] == len('{"n": 1.0}')
    assert signed_in.json("work", "list", "--lane", "webhooks")["items"][0]["kind"] == "DELIVER_WEBHOOK"


def test_nobody_wanting_an_event_is_told_and_no_error(signed_in: CommandLine) -> None:
    said = signed_in.run("webhooks", "publish", "--event", "order.created", "--data", "{}")
    assert said.exit_code == 0
    assert "no enabled endpoint wants this event" in said.stdout


def test_publishing_again_under_one_id_sends_nothing_twice(signed_in: CommandLine) -> None:
    args = ("webhooks", "publish", "--event", "a", "--data", "{}", "--message-id", str(uuid4()))
    assert signed_in.json(*args)["is_new"] is True
    assert signed_in.json(*args)["is_new"] is False
    assert "nothing is sent twice" in signed_in.run(*args).stdout
    other = (*args[:5], "[]", *args[6:])
    assert signed_in.refused(*other).startswith("webhook_message_differs: ")


@pytest.mark.parametrize("how", ["file", "@file", "pipe", "itself"])
def test_a_body_arrives_byte_for_byte(line: CommandLine, tmp_path: Path, how: str) -> None:
    owner = line.sign_in()
    body = '{ "n": 1.0,\t"s": "\\ud800\\u0000 \u2028 Grüße" }\r\n'
    (tmp_path / "body.json").write_bytes(body.encode())
    data = {"file": "body.json", "@file": "@body.json", "pipe": "-", "itself": body}[how]
    given = body.encode() if how == "pipe" else None
    message = line.json("webhooks", "publish", "--event", "a", "--data", data, given=given)["message"]
    stored = line.ask(lambda managers: managers.webhooks.get_message(owner, UUID(message["id"])))
    assert stored.body == body


@pytest.mark.parametrize(
    ("data", "given", "sentence"),
    [
        ("no such file", None, "'no such file': No such file or directory"),
        (".", None, "Is a directory"),
        ("-", b"", "expected JSON"),
        ("-", b"\xff\xfe", "standard input is not UTF-8 text (byte 0)"),
        ("-", b"[" * 100_000, "expected JSON"),
        ("a\x00b", None, "embedded null"),
    ],
)
def test_data_that_is_no_json_is_refused_with_2(
    signed_in: CommandLine, data: str, given: bytes | None, sentence: str
) -> None:
    said = signed_in.refused("webhooks", "publish", "--event", "a", "--data", data, exit_code=2, given=given)
    assert sentence in said


def test_data_above_the_platforms_bound_is_refused(signed_in: CommandLine) -> None:
    body = json.dumps("x" * (1024 * 1024))
    assert "body: expected at most" in signed_in.refused(
        "webhooks", "publish", "--event", "a", "--data", "-", exit_code=2, given=body
    )


def test_an_event_that_is_none_is_refused(signed_in: CommandLine) -> None:
    assert "event_type: " in signed_in.refused("webhooks", "publish", "--event", "Not One", "--data", "{}", exit_code=2)
