from pathlib import Path

from pydantic import SecretStr

from headrace.workers.console.local_env import read_variables
from workers.console.tests.command_line import CommandLine, new_rctx


def test_a_seeded_org_is_usable_at_once(line: CommandLine) -> None:
    document = line.json("seed")
    assert (document["is_new_org"], document["is_new_key"]) == (True, True)
    line.changes["api_key"] = document["token"]
    assert line.json("status")["org"] == {"id": document["org_id"], "name": "local"}
    assert line.json("webhooks", "endpoint", "add", "https://example.com/")["endpoint"]["enabled"] is True


def test_seeding_again_finds_what_is_there(line: CommandLine) -> None:
    first = line.json("seed")
    line.changes["api_key"] = first["token"]
    second = line.json("seed")
    assert (second["org_id"], second["is_new_org"], second["is_new_key"]) == (first["org_id"], False, False)
    assert second["token"] is None
    assert "still signs in" in line.run("seed").stdout


def test_a_lost_or_foreign_token_gives_a_new_key_for_the_same_org(line: CommandLine) -> None:
    line.json("seed")
    line.changes["api_key"] = line.json("seed", "--org", "other", "--owner", "other")["token"]
    again = line.json("seed")
    assert (again["is_new_org"], again["is_new_key"]) == (False, True)
    owner = line.ask(lambda managers: managers.tenancy.authenticate(new_rctx(), SecretStr(again["token"])))
    assert (str(owner.org_id), owner.security.role) == (again["org_id"], "owner")


def test_the_token_is_stored_and_not_shown_when_a_file_is_named(line: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "local.env"
    file.parent.mkdir()
    file.write_text("# mine\nOTHER=1\nHEADRACE_API_KEY=old\n", encoding="utf-8")
    document = line.json("seed", "--store", str(file))
    token = read_variables(file)["HEADRACE_API_KEY"]
    assert document["token"] is None
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text(encoding="utf-8").startswith("# mine\nOTHER=1\n")
    line.changes["api_key"] = token
    assert line.json("status")["org"]["name"] == "local"


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(line: CommandLine) -> None:
    assert "Permission" in (said := line.refused("seed", "--store", "/proc/none")) or "No such file" in said


def test_names_that_do_not_fit_are_refused(line: CommandLine) -> None:
    assert line.refused("seed", "--org", "", exit_code=2).startswith("validation_failed: name: ")
    assert line.refused("seed", "--owner", "Not A Login", exit_code=2).startswith("validation_failed: login_name: ")
    assert "NUL" in line.refused("seed", "--org", "a\x00b", exit_code=2)


def test_a_taken_login_name_is_refused(line: CommandLine) -> None:
    line.json("seed")
    said = line.refused("seed", "--org", "second")
    assert said.startswith("login_name_taken: ")
    assert "--owner" in said


def test_a_deleted_org_is_not_seeded_over(line: CommandLine) -> None:
    token = SecretStr(line.json("seed")["token"])

    async def delete(managers):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        await managers.tenancy.delete_org(await managers.tenancy.authenticate(new_rctx(), token))

    line.ask(delete)
    assert "was deleted" in line.refused("seed")
