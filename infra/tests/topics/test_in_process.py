"""The in-process topics: the contract, and what they know for certain."""

import pytest

from headrace.infra.topics import Topics
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.messages import Ear, StuckEar, available
from infra.tests.contracts.topics import TopicsContract, started

__all__ = ["started"]


class TestTopicsInProcess(TopicsContract):
    @pytest.fixture
    def topics(self) -> TopicsInProcessImpl:
        return TopicsInProcessImpl()

    @pytest.fixture
    def peer(self, topics: TopicsInProcessImpl) -> TopicsInProcessImpl:
        return topics


async def test_nobody_listens_when_the_last_subscriber_has_gone() -> None:
    topics = TopicsInProcessImpl()
    assert not topics.has_listeners(Topics.WORK_AVAILABLE)
    unsubscribe = await topics.subscribe(Topics.WORK_AVAILABLE, Ear())
    assert topics.has_listeners(Topics.WORK_AVAILABLE)
    await unsubscribe()
    assert not topics.has_listeners(Topics.WORK_AVAILABLE)


async def test_the_oldest_messages_are_dropped_and_counted_when_a_subscriber_is_too_slow() -> None:
    topics = TopicsInProcessImpl(queue_size=3)
    await topics.start()
    stuck = StuckEar()
    unsubscribe = await topics.subscribe(Topics.WORK_AVAILABLE, stuck)
    await topics.publish(Topics.WORK_AVAILABLE, available())
    await eventually(lambda: stuck.num_begun == 1)
    for _ in range(5):
        assert await topics.publish(Topics.WORK_AVAILABLE, available())
    assert topics.num_dropped() == 2
    await unsubscribe()
    assert topics.num_dropped() == 2
    await topics.close()


async def test_the_newest_messages_are_kept_when_a_queue_is_full() -> None:
    topics = TopicsInProcessImpl(queue_size=3)
    await topics.start()
    ear = Ear()
    await topics.subscribe(Topics.WORK_AVAILABLE, ear)
    for count in range(1, 6):  # the subscriber gets no turn in between
        await topics.publish(Topics.WORK_AVAILABLE, available(count))
    await eventually(lambda: ear.heard == [available(3), available(4), available(5)])
    await topics.close()
