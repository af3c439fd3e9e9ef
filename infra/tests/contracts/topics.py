"""What every implementation of the topics does; subclasses give ``topics`` (new, not started) and ``peer``.

``peer`` stands for another process: an object of its own that reaches the same backend, or the same object where the
backend is the process. ``started`` gives both once they hear themselves.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from headrace.infra.topics import TopicPayload, Topics, TopicsInterface, Unsubscribe
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.messages import (
    ONE_OF_EACH,
    Ear,
    FailingEar,
    StuckEar,
    available,
    settled,
)

WAKE = Topics.WORK_AVAILABLE


@pytest.fixture
async def started(topics: TopicsInterface, peer: TopicsInterface) -> AsyncIterator[TopicsInterface]:
    for each in (topics, peer):
        await each.start()
    await eventually(lambda: topics.last_heard_age() is not None and peer.last_heard_age() is not None)
    yield topics
    for each in (topics, peer):
        await each.close()


class TopicsContract:
    @pytest.mark.parametrize("topic", list(Topics))
    async def test_a_message_is_heard_when_published_by_another_process(
        self, started: TopicsInterface, peer: TopicsInterface, topic: Topics
    ) -> None:
        ear = Ear()
        await started.subscribe(topic, ear)
        assert await peer.publish(topic, ONE_OF_EACH[topic])
        await eventually(lambda: ear.heard == [ONE_OF_EACH[topic]])

    async def test_every_subscriber_hears_when_there_are_several(
        self, started: TopicsInterface, peer: TopicsInterface
    ) -> None:
        ears = [Ear(), Ear(), Ear()]
        for ear, listener in zip(ears, (started, started, peer), strict=True):
            await listener.subscribe(WAKE, ear)
        await started.publish(WAKE, available())
        await eventually(lambda: all(ear.heard == [available()] for ear in ears))

    async def test_a_subscriber_hears_nothing_when_another_topic_is_published(self, started: TopicsInterface) -> None:
        ear, other = Ear(), Ear()
        await started.subscribe(WAKE, ear)
        await started.subscribe(Topics.WORK_SETTLED, other)
        await started.publish(Topics.WORK_SETTLED, settled())
        await eventually(lambda: len(other.heard) == 1)
        assert ear.heard == []

    async def test_messages_are_heard_in_order_when_one_process_publishes(
        self, started: TopicsInterface, peer: TopicsInterface
    ) -> None:
        ear = Ear()
        await started.subscribe(WAKE, ear)
        messages = [available(count) for count in range(1, 51)]
        for message in messages:
            assert await peer.publish(WAKE, message)
        await eventually(lambda: len(ear.heard) == 50)
        assert ear.heard == messages

    async def test_every_message_is_taken_when_many_are_published_at_once(self, started: TopicsInterface) -> None:
        ear = Ear()
        await started.subscribe(WAKE, ear)
        assert all(await asyncio.gather(*(started.publish(WAKE, available(count)) for count in range(1, 51))))
        await eventually(lambda: len(ear.heard) == 50)

    async def test_a_subscriber_hears_no_more_when_unsubscribed(self, started: TopicsInterface) -> None:
        ear, other = Ear(), Ear()
        unsubscribe = await started.subscribe(WAKE, ear)
        await started.subscribe(WAKE, other)
        await unsubscribe()
        await unsubscribe()
        await started.publish(WAKE, available())
        await eventually(lambda: len(other.heard) == 1)
        assert ear.heard == []

    async def test_a_running_callback_is_cancelled_when_unsubscribed(self, started: TopicsInterface) -> None:
        ear = StuckEar()
        unsubscribe = await started.subscribe(WAKE, ear)
        await started.publish(WAKE, available())
        await eventually(lambda: ear.num_begun == 1)
        await unsubscribe()
        assert ear.was_cancelled

    async def test_a_callback_runs_to_its_end_when_it_unsubscribes_itself(self, started: TopicsInterface) -> None:
        ear, other = Ear(), Ear()
        ends: list[Unsubscribe] = []

        async def once(payload: TopicPayload) -> None:
            await ends[0]()
            await asyncio.sleep(0)
            await ear(payload)

        ends.append(await started.subscribe(WAKE, once))
        await started.subscribe(WAKE, other)
        for _ in range(2):
            await started.publish(WAKE, available())
        await eventually(lambda: len(other.heard) == 2 and len(ear.heard) == 1)

    @pytest.mark.parametrize("error", [RuntimeError("broken"), asyncio.CancelledError(), SystemExit(3)])
    async def test_a_callback_is_called_again_when_it_raised(
        self, started: TopicsInterface, error: BaseException
    ) -> None:
        broken, other = FailingEar(error), Ear()
        await started.subscribe(WAKE, broken)
        await started.subscribe(WAKE, other)
        for _ in range(2):
            await started.publish(WAKE, available())
        await eventually(lambda: len(broken.heard) == 2 and len(other.heard) == 2)

    async def test_others_hear_when_one_callback_is_stuck(self, started: TopicsInterface) -> None:
        stuck, other = StuckEar(), Ear()
        await started.subscribe(WAKE, stuck)
        await started.subscribe(WAKE, other)
        for _ in range(20):
            assert await started.publish(WAKE, available())
        await eventually(lambda: len(other.heard) == 20)
        assert stuck.num_begun == 1

    async def test_nothing_is_sent_when_the_payload_belongs_to_another_topic(self, started: TopicsInterface) -> None:
        with pytest.raises(TypeError, match="topic work_available takes WorkAvailable, got WorkSettled"):
            await started.publish(WAKE, settled())

    async def test_a_message_is_cut_and_marked_when_it_is_too_big(self, started: TopicsInterface) -> None:
        ear = Ear()
        await started.subscribe(Topics.WORK_SETTLED, ear)
        assert await started.publish(Topics.WORK_SETTLED, settled(origin="o" * 9000))
        await eventually(lambda: len(ear.heard) == 1)
        heard = ear.heard[0].model_dump()
        assert heard.pop("truncated")
        (end,) = heard.pop("ends")
        assert 7000 < len(end.pop("origin")) < 8000
        assert heard == settled().model_dump(exclude={"truncated", "ends"})
        assert end == settled().ends[0].model_dump(exclude={"origin"})

    @pytest.mark.parametrize("text", ["nul \0 nul", "é 😀 \u2028", "'quote' \\ \"", "\x1b[31m", "\uffff"])
    async def test_any_text_comes_through_when_it_is_part_of_a_message(
        self, started: TopicsInterface, text: str
    ) -> None:
        ear = Ear()
        await started.subscribe(Topics.WORK_SETTLED, ear)
        assert await started.publish(Topics.WORK_SETTLED, settled(origin=text))
        await eventually(lambda: ear.heard == [settled(origin=text)])

    async def test_a_lone_surrogate_is_replaced_when_it_is_part_of_a_message(self, started: TopicsInterface) -> None:
        ear = Ear()
        await started.subscribe(Topics.WORK_SETTLED, ear)
        assert await started.publish(Topics.WORK_SETTLED, settled(origin="a\ud800b"))
        await eventually(lambda: ear.heard == [settled(origin="a\ufffdb")])

    async def test_a_publish_answers_false_when_not_started_or_closed(self, topics: TopicsInterface) -> None:
        assert not await topics.publish(WAKE, available())
        await topics.start()
        await topics.close()
        assert not await topics.publish(WAKE, available())

    async def test_an_early_subscriber_is_served_when_the_topics_start(
        self, topics: TopicsInterface, peer: TopicsInterface
    ) -> None:
        ear = Ear()
        await topics.subscribe(WAKE, ear)
        await topics.start()
        await peer.start()
        await eventually(lambda: heard_after_publish(peer, ear))
        for each in (topics, peer):
            await each.close()

    async def test_a_running_callback_is_cancelled_when_the_topics_close(self, started: TopicsInterface) -> None:
        ear = StuckEar()
        await started.subscribe(WAKE, ear)
        await started.publish(WAKE, available())
        await eventually(lambda: ear.num_begun == 1)
        await started.close()
        assert ear.was_cancelled

    async def test_topics_serve_again_when_started_after_a_close(self, started: TopicsInterface) -> None:
        ear = Ear()
        await started.subscribe(WAKE, ear)
        await started.close()
        await started.start()
        await eventually(lambda: heard_after_publish(started, ear))

    async def test_starting_and_closing_do_nothing_when_done_already(self, started: TopicsInterface) -> None:
        await started.start()
        await started.close()
        await started.close()

    async def test_the_proof_of_hearing_is_there_only_while_started(self, topics: TopicsInterface) -> None:
        assert topics.last_heard_age() is None
        await topics.start()
        await eventually(lambda: is_not_negative(topics.last_heard_age()))
        await topics.close()
        assert topics.last_heard_age() is None

    async def test_listeners_are_reported_when_somebody_subscribed(self, started: TopicsInterface) -> None:
        assert not started.has_listeners(WAKE)
        await started.subscribe(WAKE, Ear())
        assert started.has_listeners(WAKE) is True


async def heard_after_publish(publisher: TopicsInterface, ear: Ear) -> bool:
    await publisher.publish(WAKE, available())
    return bool(ear.heard)


def is_not_negative(age: timedelta | None) -> bool:
    return age is not None and age >= timedelta(0)
