import asyncio
from pathlib import Path

from headrace.tools.dev.following import FollowedLog, follow_logs


def test_only_new_and_completed_lines_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"old\n")
    log = FollowedLog(path)
    with path.open("ab") as file:
        file.write(b"one\ntw")
        file.flush()
        assert log.new_lines() == ["one"]
        file.write(b"o \xff\n")
        file.flush()
        assert log.new_lines() == ["two \ufffd"]
    assert log.new_lines() == []


def test_a_log_that_was_emptied_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"a long first line\n")
    log = FollowedLog(path)
    path.write_bytes(b"new\n")
    assert log.new_lines() == ["new"]


def test_a_missing_log_is_waited_for(tmp_path: Path) -> None:
    log = FollowedLog(tmp_path / "late.log")
    assert log.new_lines() == []
    (tmp_path / "late.log").write_bytes(b"here\n")
    assert log.new_lines() == ["here"]


async def test_lines_stand_behind_the_name_of_their_process(tmp_path: Path) -> None:
    logs = {"a": tmp_path / "a.log", "long": tmp_path / "long.log"}
    shown: asyncio.Queue[str] = asyncio.Queue()
    following = asyncio.create_task(follow_logs(logs, shown.put_nowait))
    await asyncio.sleep(0)
    for path in logs.values():
        path.write_bytes(b"hello\n")
    async with asyncio.timeout(20):
        assert [await shown.get(), await shown.get()] == ["a    | hello", "long | hello"]
    following.cancel()
    await asyncio.wait({following})
