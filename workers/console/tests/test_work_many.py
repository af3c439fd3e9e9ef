"""Bundles, and what is done to many items at once."""

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.context import OpContext, Role
from headrace.om.root import Managers
from headrace.om.work.types.bundle import FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from workers.console.tests.command_line import CommandLine


@pytest.fixture
def owned(line: CommandLine) -> tuple[CommandLine, OpContext]:
    return line, line.sign_in()


def put_bundle(line: CommandLine, ctx: OpContext, num_items: int = 2, kind: str = "report") -> WorkBundle:
    items = [WorkItem(kind=WorkKind.NOOP, origin="tests") for _ in range(num_items)]
    follow_up = FollowUp(kind=WorkKind.NOOP, payload=FrozenMapping({"note": "all"}))
    bundle = WorkBundle(kind=kind, origin="tests", on_settled=follow_up)

    async def put(managers: Managers) -> WorkBundle:
        return await managers.work.enqueue_bundle(ctx, bundle, items)

    return line.ask(put)


def item_ids(line: CommandLine, *options: str) -> list[str]:
    return [item["id"] for item in line.json("work", "list", *options)["items"]]


def test_bundles_are_listed_page_by_page_and_narrowed(owned: tuple[CommandLine, OpContext]) -> None:
    line, ctx = owned
    ids = [str(put_bundle(line, ctx, kind=kind).id) for kind in ("report", "report", "export")]
    first = line.json("work", "bundles", "list", "--limit", "2")
    second = line.json("work", "bundles", "list", "--limit", "2", "--after", first["next"])
    assert [each["id"] for each in (*first["bundles"], *second["bundles"])] == ids[::-1]
    found = line.json("work", "bundles", "list", "--kind", "export", "--status", "OPEN", "--origin", "tests")
    assert [each["id"] for each in found["bundles"]] == ids[2:]
    assert f"more: --after {ids[2]}" in line.run("work", "bundles", "list", "--limit", "1").stdout


def test_a_bundle_is_shown_with_its_counts(owned: tuple[CommandLine, OpContext]) -> None:
    line, ctx = owned
    bundle = str(put_bundle(line, ctx).id)
    line.json("work", "cancel", item_ids(line, "--bundle", bundle)[0])
    shown = line.json("work", "bundles", "show", bundle)["bundle"]
    assert (shown["num_items"], shown["num_cancelled"], shown["status"]) == (2, 1, "open")
    said = line.run("work", "bundles", "show", bundle).stdout
    assert '"note": "all"' in said
    assert "1/2" in line.run("work", "bundles", "list").stdout


def test_a_bundle_is_removed_with_its_items(owned: tuple[CommandLine, OpContext]) -> None:
    line, ctx = owned
    bundle = str(put_bundle(line, ctx).id)
    assert line.json("work", "bundles", "delete", bundle) == {"bundle_id": bundle}
    assert item_ids(line) == []
    assert line.refused("work", "bundles", "show", bundle).startswith("work_bundle_not_found: ")
    assert line.run("work", "bundles", "list").stdout == "no bundle is like that\n"


def test_waiting_ends_with_the_end_and_says_when_it_does_not_come(owned: tuple[CommandLine, OpContext]) -> None:
    line, ctx = owned
    bundle = str(put_bundle(line, ctx, 1).id)
    (item,) = item_ids(line)
    assert line.refused("work", "wait", item, "--timeout", "1ms").startswith("not_settled_in_time: item")
    late = line.refused("work", "wait", bundle, "--bundle", "--timeout", "1ms")
    assert late.startswith(f"not_settled_in_time: bundle {bundle} is still open: 0 of 1")
    line.json("work", "cancel", item)
    assert line.json("work", "wait", item)["item"]["status"] == "cancelled"
    assert line.json("work", "wait", bundle, "--bundle")["bundle"]["status"] == "settled"
    assert line.refused("work", "wait", item, "--timeout", "soon", exit_code=2).startswith("usage: ")


def test_many_are_retried_by_a_filter_page_by_page(owned: tuple[CommandLine, OpContext]) -> None:
    line, _ = owned
    ids = [line.json("work", "enqueue", "NOOP", "--lane", lane)["item"]["id"] for lane in ("a", "a", "b")]
    for each in ids:
        line.json("work", "cancel", each)
    assert line.json("work", "retry", "--filter")["items"] == []
    page = line.json("work", "retry", "--filter", "--status", "cancelled", "--lane", "a", "--limit", "1")
    assert page == {"items": [{"item_id": ids[1], "is_queued": True}], "num_queued": 1, "next": ids[1]}
    rest = line.run("work", "retry", "--filter", "--status", "cancelled", "--after", ids[1]).stdout
    assert rest == "1 items are queued again\n"
    assert item_ids(line, "--status", "cancelled") == ids[2:]


def test_one_that_would_collide_stays_and_is_told(owned: tuple[CommandLine, OpContext]) -> None:
    line, _ = owned
    enqueue = ("work", "enqueue", "NOOP", "--payload", '{"note": "a"}', "--unique-for", "note")
    first = line.json(*enqueue)
    assert (line.json(*enqueue)["is_new"], line.json(*enqueue)["item"]["id"]) == (False, first["item"]["id"])
    line.json("work", "cancel", first["item"]["id"])
    line.json(*enqueue)
    assert line.refused("work", "retry", first["item"]["id"]).startswith("work_item_not_unique: ")
    assert "1 stay" in line.run("work", "retry", "--filter", "--status", "cancelled").stdout


@pytest.mark.parametrize("options", [(), ("--filter", "01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d")])
def test_a_retry_of_nothing_or_of_both_is_refused(
    owned: tuple[CommandLine, OpContext], options: tuple[str, ...]
) -> None:
    assert "expected the id of one item, or --filter" in owned[0].refused("work", "retry", *options, exit_code=2)


def test_a_filter_beside_an_id_is_refused(owned: tuple[CommandLine, OpContext]) -> None:
    some_id = "01890f2e-5b0c-7f43-9a37-7f4c9f1f2b6d"
    assert "go with --filter" in owned[0].refused("work", "retry", some_id, "--lane", "a", exit_code=2)


def test_finished_items_are_removed_by_a_filter(owned: tuple[CommandLine, OpContext]) -> None:
    line, _ = owned
    ids = [line.json("work", "enqueue", "NOOP", "--lane", lane)["item"]["id"] for lane in ("a", "b", "b")]
    for each in ids[:2]:
        line.json("work", "cancel", each)
    assert line.json("work", "delete-finished", "--lane", "b") == {"num_deleted": 1}
    assert "there may be more" in line.run("work", "delete-finished", "--limit", "1").stdout
    assert item_ids(line) == ids[2:]


def test_items_of_a_kind_that_only_the_rows_know_are_found_in_capitals(owned: tuple[CommandLine, OpContext]) -> None:
    line, ctx = owned
    strange = WorkItem(kind=WorkKind.read("SENT_BY_ANOTHER_RELEASE"), origin="tests")

    async def put(_: Managers) -> object:
        return await line.storage.get_work_storage().create_item(ctx.org_id, strange)

    line.ask(put)
    assert item_ids(line, "--kind", "SENT_BY_ANOTHER_RELEASE") == [str(strange.id)]
    assert "SENT_BY_ANOTHER_RELEASE" in line.run("work", "list").stdout
    assert line.refused("work", "list", "--kind", "sent", exit_code=2).startswith("usage: ")


def test_a_viewer_may_look_and_not_touch_bundles(line: CommandLine) -> None:
    owner = line.sign_in(Role.VIEWER)
    bundle = str(put_bundle(line, owner).id)
    assert len(line.json("work", "bundles", "list")["bundles"]) == 1
    for command in (("bundles", "delete", bundle), ("retry", "--filter"), ("delete-finished",)):
        assert line.refused("work", *command).startswith("not_authorized: ")
