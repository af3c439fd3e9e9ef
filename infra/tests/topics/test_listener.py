"""How the listener keeps hearing, over a backend that the test breaks at will."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from headrace.infra.topics.impl.listener import ListenerOptions, TopicListener
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.listening import QUICK
from infra.tests.topics.hub import Hub

MOMENT = timedelta(milliseconds=20)
OPTIONS = replace(
    QUICK, self_test_interval=MOMENT, self_test_timeout=MOMENT, backoff_base=MOMENT, backoff_cap=MOMENT * 2
)


class Bench:
    """A listener on a hub, with what it heard and the clock that it reads."""

    def __init__(self, options: ListenerOptions = OPTIONS) -> None:
        self.hub = Hub()
        self.heard: list[tuple[str, str]] = []
        self.now = 1000.0
        self.listener = TopicListener(
            self.hub.connect,
            lambda channel, text: self.heard.append((channel, text)),
            backend="the hub",
            namespace="test",
            options=options,
            clock=lambda: self.now,
        )

    def run(self) -> None:
        self.task = asyncio.create_task(self.listener.run())

    def is_proved(self) -> bool:
        return self.listener.last_heard_age() == timedelta(0)


@pytest.fixture
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    bench = Bench(getattr(request, "param", OPTIONS))
    yield bench
    bench.task.cancel()
    await asyncio.wait([bench.task])
    assert bench.task.cancelled()
    assert bench.hub.open == set()


@pytest.fixture
async def running(bench: Bench) -> Bench:
    bench.run()
    return bench


async def test_wanted_channels_are_heard_again_when_the_connection_was_broken(running: Bench) -> None:
    running.listener.want("wanted")
    await running.listener.confirmed("wanted")
    running.hub.break_all()
    await eventually(lambda: len(running.hub.connections) > 1 and running.is_proved())
    running.hub.send("wanted", "text")
    assert running.heard == [("wanted", "text")]


async def test_a_channel_is_heard_at_once_when_it_is_wanted_between_two_self_tests(running: Bench) -> None:
    await eventually(running.is_proved)
    running.listener.want("late")
    await running.listener.confirmed("late")
    running.hub.send("late", "text")
    assert running.heard == [("late", "text")]


async def test_the_proof_ages_and_the_listener_reconnects_when_it_does_not_hear_itself(running: Bench) -> None:
    await eventually(running.is_proved)
    running.hub.is_deaf = True
    num_before = len(running.hub.connections)
    await eventually(lambda: len(running.hub.connections) > num_before + 2)
    running.now += 60
    assert running.listener.last_heard_age() == timedelta(seconds=60)


async def test_the_proof_is_fresh_again_when_the_backend_can_be_heard_again(bench: Bench) -> None:
    bench.hub.is_deaf = True
    bench.run()
    await eventually(lambda: len(bench.hub.connections) > 2)
    assert bench.listener.last_heard_age() is None
    bench.hub.is_deaf = False
    await eventually(bench.is_proved)


async def test_hearing_is_not_given_up_when_the_first_listen_fails(bench: Bench) -> None:
    bench.hub.num_refused_listens = 1
    bench.run()
    bench.listener.want("wanted")
    await bench.listener.confirmed("wanted")
    bench.hub.send("wanted", "text")
    assert bench.heard == [("wanted", "text")]


async def test_connecting_goes_on_when_it_is_refused_again_and_again(bench: Bench) -> None:
    bench.hub.is_refusing = True
    bench.run()
    await eventually(lambda: len(bench.hub.connections) > 5)
    bench.hub.is_refusing = False
    await eventually(bench.is_proved)


async def test_connecting_goes_on_and_the_cause_is_told_when_no_connection_can_be_made(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.hub.is_unmakeable = True
    bench.run()
    await eventually(lambda: "the hub is unreachable: ValueError" in caplog.text)
    bench.hub.is_unmakeable = False
    await eventually(bench.is_proved)


async def test_attempts_are_few_when_each_fails_at_once(bench: Bench) -> None:
    bench.hub.is_refusing = True
    bench.run()
    await asyncio.wait([bench.task], timeout=0.5)
    assert len(bench.hub.connections) < 50  # half of the first wait, the shortest there is, fits 50 times


async def test_an_outage_is_logged_once_with_its_cause_and_once_when_over(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headrace.infra.topics")
    bench.hub.is_deaf = True
    bench.run()
    await eventually(lambda: len(bench.hub.connections) > 3)
    bench.hub.is_deaf = False
    await eventually(bench.is_proved)
    await eventually(lambda: len(caplog.messages) == 2)
    assert "the hub is unreachable: BackendUnavailable: the listener did not hear its own message" in caplog.messages[0]
    assert "the hub is reachable again" in caplog.messages[1]


async def test_a_publish_answers_false_at_once_when_there_is_no_connection(bench: Bench) -> None:
    bench.hub.is_refusing = True
    bench.run()
    assert not await bench.listener.publish("channel", "text")


@pytest.mark.parametrize("bench", [replace(OPTIONS, self_test_interval=timedelta(hours=1))], indirect=True)
async def test_the_connection_is_tested_at_once_when_a_publish_fails(running: Bench) -> None:
    await eventually(running.is_proved)
    running.hub.is_mute = True
    assert not await running.listener.publish("channel", "text")
    await eventually(lambda: len(running.hub.connections) > 1)
    running.hub.is_mute = False
    await eventually(running.is_proved)


async def test_no_task_is_left_when_the_listener_is_cancelled_while_its_connection_breaks() -> None:
    for num_turns in range(8):  # wherever in the handling of the break the cancel lands
        bench = Bench()
        bench.run()
        await eventually(bench.is_proved)
        bench.hub.break_all()
        for _ in range(num_turns):
            await asyncio.sleep(0)
        bench.task.cancel()
        await asyncio.wait([bench.task], timeout=5)
        assert bench.task.done()
        assert bench.hub.open == set()
