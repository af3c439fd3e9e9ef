"""`headrace schedules ...`."""

from uuid import uuid4

import pytest

from workers.console.tests.command_line import CommandLine


@pytest.fixture
def signed_in(line: CommandLine) -> CommandLine:
    line.sign_in()
    return line


def test_a_schedule_is_set_up_shown_and_listed(signed_in: CommandLine) -> None:
    asked = (
        "--cron",
        "30 6 * * MON",
        "--time-zone",
        "Europe/Vienna",
        "--payload",
        '{"note": "hi"}',
        "--lane",
        "reports",
    )
    said = signed_in.run("schedules", "add", "weekly", "NOOP", *asked, "--overlap", "skip", "--missed", "all")
    assert said.exit_code == 0, said.output
    assert said.stdout.startswith("weekly: 30 6 * * MON Europe/Vienna, first at 2")
    shown = signed_in.json("schedules", "show", "weekly")["schedule"]
    assert (shown["kind"], shown["payload"], shown["lane"]) == ("NOOP", {"note": "hi"}, "reports")
    assert (shown["overlap"], shown["missed"], shown["is_enabled"]) == ("skip", "all", True)
    assert signed_in.json("schedules", "show", shown["id"])["schedule"] == shown
    assert '"note": "hi"' in signed_in.run("schedules", "show", "weekly").stdout
    assert "30 6 * * MON Europe/Vienna" in signed_in.run("schedules", "list").stdout


def test_schedules_are_listed_page_by_page(signed_in: CommandLine) -> None:
    assert signed_in.run("schedules", "list").stdout == "there is no schedule\n"
    for name in ("a", "b", "c"):
        signed_in.json("schedules", "add", name, "NOOP", "--every", "5m")
    first = signed_in.json("schedules", "list", "--limit", "2")
    second = signed_in.json("schedules", "list", "--limit", "2", "--after", first["next"])
    assert [each["name"] for each in (*first["schedules"], *second["schedules"])] == ["c", "b", "a"]
    assert f"more: --after {first['next']}" in signed_in.run("schedules", "list", "--limit", "2").stdout


def test_a_schedule_is_disabled_enabled_and_removed(signed_in: CommandLine) -> None:
    made = signed_in.json("schedules", "add", "often", "NOOP", "--every", "1h", "--disabled")["schedule"]
    assert (made["next_fire_at"], made["every"], made["missed_after"]) == (None, 3600, 60)
    assert signed_in.run("schedules", "enable", "often").stdout.startswith("often: next at 2")
    assert signed_in.run("schedules", "disable", made["id"]).stdout == "often: disabled\n"
    assert signed_in.json("schedules", "remove", "often") == {"schedule_id": made["id"]}
    assert signed_in.refused("schedules", "show", "often").startswith("work_schedule_not_found: no schedule 'often'")
    assert signed_in.refused("schedules", "remove", made["id"]).startswith("work_schedule_not_found: ")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--cron", "61 * * * *"), "cron: "),
        (("--cron", "30 6 * *"), "cron: expected five fields"),
        (("--cron", "@daily"), "cron: expected five fields"),
        (("--cron", "0 0 * * *", "--time-zone", "Europe/Atlantis"), "time_zone: "),
        (("--every", "soon"), "value for --every: "),
        (("--every", "1h", "--anchor", "noon"), "value for --anchor: "),
        (("--every", "1h", "--missed", "some"), "value for --missed: there is no way with missed ticks 'some'"),
        (("--every", "1h", "--overlap", "some"), "value for --overlap: there is no way with overlaps 'some'"),
        (("--every", "1h", "--payload", '{"nothing_like": 1}'), "payload.nothing_like"),
        ((), "cron, every: expected exactly one"),
        (("--every", "1h", "--cron", "0 0 * * *"), "cron, every: expected exactly one"),
        (("--every", "10ms"), "every"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(
    signed_in: CommandLine, options: tuple[str, ...], sentence: str
) -> None:
    assert sentence in signed_in.refused("schedules", "add", "odd", "NOOP", *options, exit_code=2)
    assert signed_in.json("schedules", "list")["schedules"] == []


@pytest.mark.parametrize("name", ["two\nlines", " ", "end ", "bell\x07", "para\u2029graph"])
def test_a_name_that_nobody_could_type_again_is_refused(signed_in: CommandLine, name: str) -> None:
    said = signed_in.refused("schedules", "add", name, "NOOP", "--every", "1h", exit_code=2)
    assert said.startswith("validation_failed: name: expected one line without control characters")
    assert signed_in.json("schedules", "list")["schedules"] == []


def test_a_name_that_looks_like_an_id_is_found(signed_in: CommandLine) -> None:
    name = str(uuid4())
    made = signed_in.json("schedules", "add", name, "NOOP", "--every", "1h")["schedule"]
    assert signed_in.json("schedules", "show", name)["schedule"] == made
    missed = str(uuid4())
    assert f"no schedule {missed!r} in this org" in signed_in.refused("schedules", "show", missed)
