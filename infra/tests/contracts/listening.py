"""What the topics over a real server survive, and the options that make a test wait little."""

from datetime import timedelta
from uuid import uuid4

from headrace.infra.topics import Topics, TopicsInterface
from headrace.infra.topics.impl.listener import ListenerOptions
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.messages import Ear
from infra.tests.contracts.topics import heard_after_publish

QUICK = ListenerOptions(
    connect_timeout=timedelta(seconds=5),
    command_timeout=timedelta(seconds=5),
    self_test_interval=timedelta(milliseconds=200),
    self_test_timeout=timedelta(seconds=3),
    backoff_base=timedelta(milliseconds=50),
    backoff_cap=timedelta(milliseconds=400),
)


def new_namespace() -> str:
    return f"test_{uuid4().hex[:16]}"


async def hears_again(topics: TopicsInterface, ear: Ear) -> None:
    """Wait until a message comes through once more, from this process to itself."""
    ear.heard.clear()
    await eventually(lambda: heard_after_publish(topics, ear), within=30)


async def hears(topics: TopicsInterface) -> Ear:
    """Subscribe, and wait until the first message came through."""
    ear = Ear()
    await topics.subscribe(Topics.WORK_AVAILABLE, ear)
    await hears_again(topics, ear)
    return ear
