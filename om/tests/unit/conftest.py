"""Fixtures of the unit tests: a work queue over memory, and somebody who may use it."""

from typing import Any

import pytest

from headrace.om.context import OpContext
from om.tests.unit.work_queue import Queue


@pytest.fixture
async def queue() -> Any:  # noqa: ANN401 - a generator of Queue
    opened = Queue()
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture
async def ctx(queue: Queue) -> OpContext:
    return await queue.owner_of_new_org()
