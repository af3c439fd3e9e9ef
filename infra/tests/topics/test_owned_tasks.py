"""Tasks that live between start and close."""

import asyncio
import logging

import pytest

from headrace.infra.topics.owned_tasks import OwnedTasks


async def test_a_task_is_cancelled_and_ended_when_the_group_closes() -> None:
    tasks = OwnedTasks()
    await tasks.start()
    task = tasks.spawn(_forever(), name="forever")
    await tasks.close()
    assert task.cancelled()


async def test_spawning_is_refused_when_the_group_is_not_open() -> None:
    tasks = OwnedTasks()
    with pytest.raises(RuntimeError, match="forever cannot run"):
        tasks.spawn(_forever(), name="forever")


async def test_closing_works_from_another_task_than_starting() -> None:
    tasks = OwnedTasks()
    await asyncio.create_task(tasks.start())
    task = tasks.spawn(_forever(), name="forever")
    await asyncio.create_task(tasks.close())
    assert task.cancelled()
    assert not tasks.is_open


async def test_a_failure_is_logged_when_the_group_closes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "headrace.infra.topics")
    tasks = OwnedTasks()
    await tasks.start()
    await asyncio.wait([tasks.spawn(_fail(), name="fail")])
    await tasks.close()
    assert caplog.messages == ["background tasks had failed"]


async def _forever() -> None:
    await asyncio.Event().wait()


async def _fail() -> None:
    raise ValueError("broken")
