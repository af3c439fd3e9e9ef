import json
from datetime import timedelta

import pytest

from headrace.om.work.types.kinds import WorkKind
from workers.console.tests.command_line import CommandLine, new_rctx


def fail_one(line: CommandLine) -> None:
    """Let a worker claim the only item and give it up."""

    async def failed(managers):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        claimed = await managers.work.claim(new_rctx(), "default", [WorkKind.NOOP], "w", timedelta(minutes=1))
        await managers.work.refuse(claimed[0], claimed[1], "no use")

    line.ask(failed)


def test_the_status_counts_work_and_dead_letters(signed_in: CommandLine) -> None:
    signed_in.json("work", "enqueue", "NOOP")
    fail_one(signed_in)
    signed_in.json("work", "enqueue", "NOOP")
    signed_in.json("work", "enqueue", "NOOP", "--lane", "slow")
    document = signed_in.json("status")
    assert document["org"]["name"] == "acme"
    counts = {(each["status"], each["lane"]): each["num_items"] for each in document["work"]["counts"]}
    assert counts == {("failed", "default"): 1, ("queued", "default"): 1, ("queued", "slow"): 1}
    assert document["work"]["num_dead_letters"] == 1
    assert document["work"]["oldest_waiting_seconds"] >= 0
    assert set(document["outbox"]) == {"num_pending", "lag_seconds"}


def test_the_status_says_what_is_empty(signed_in: CommandLine) -> None:
    said = signed_in.run("status").stdout
    assert "no work items yet" in said
    assert "workers cannot be seen" in said
    assert signed_in.json("status")["work"]["oldest_waiting_seconds"] is None


def test_live_workers_are_shown_when_the_cache_is_shared(signed_in: CommandLine) -> None:
    beat = {
        "lane": "mail",
        "kinds": ["NOOP"],
        "capacity": 4,
        "running": 1,
        "release": "r7",
        "started_at": "2026-11-30T12:00:00Z",
    }
    signed_in.beat("mailer-1", json.dumps(beat))
    assert "2026-11-30 12:00:00Z" in signed_in.run("status").stdout
    signed_in.beat("mailer-1", json.dumps(beat))
    document = signed_in.json("status")
    assert document["workers"] == [{"worker": "mailer-1", **beat}]
    assert document["sees_workers"] is True


def test_a_beat_of_another_release_is_shown_as_far_as_it_is_understood(signed_in: CommandLine) -> None:
    signed_in.beat("odd", "no JSON")
    assert signed_in.json("status")["workers"] == [{"worker": "odd"}]
    signed_in.beat("odd", '{"kinds": 3, "started_at": "yesterday"}')
    assert "yesterday" in signed_in.run("status").stdout


def test_no_worker_being_alive_is_told(signed_in: CommandLine) -> None:
    signed_in.changes |= {"cache_backend": "redis", "redis_url": "redis://127.0.0.1:1/0"}
    assert "no worker is alive" in signed_in.run("status").stdout


def test_dead_letters_are_pointed_at(signed_in: CommandLine) -> None:
    signed_in.json("work", "enqueue", "NOOP")
    fail_one(signed_in)
    assert "1  (`headrace work list --status failed` shows them)" in signed_in.run("status").stdout
    listed = signed_in.run("work", "list", "--status", "failed").stdout
    assert "no use" in listed


async def _refuses(*_: object, **__: object) -> bool:
    return False


def test_workers_are_not_called_dead_when_the_cache_does_not_answer(
    signed_in: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in.changes |= {"cache_backend": "redis", "redis_url": "redis://127.0.0.1:1/0"}
    monkeypatch.setattr(signed_in.cache, "put", _refuses)
    assert "workers cannot be seen" in signed_in.run("status").stdout
    assert signed_in.json("status")["sees_workers"] is False
