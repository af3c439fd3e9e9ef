"""Look-ups of names: how many there are at once, and who waits for whom."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from headrace.om.base import new_id
from headrace.workers.webhook_dispatcher.addresses import Address
from headrace.workers.webhook_dispatcher.name_lookups import NameLookups

PATIENCE = 20
MAX_TURNS = 1000
FOUND = (ip_address("93.184.215.14"),)
HOSTILE, HONEST = new_id(), new_id()


class Resolver:
    """Answers at once, but for `silent` names only when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()
        self.error: OSError | None = None

    async def __call__(self, host: str, _port: int) -> Sequence[Address]:
        self.asked.append(host)
        if host.startswith("silent"):
            await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return FOUND

    async def until_asked(self, num: int) -> None:
        for _ in range(MAX_TURNS):
            if len(self.asked) >= num:
                return
            await asyncio.sleep(0)
        raise AssertionError(f"only {self.asked} were asked for")


@pytest.fixture
def resolver() -> Resolver:
    return Resolver()


async def test_one_look_up_serves_all_when_an_org_asks_for_a_name_many_times(resolver: Resolver) -> None:
    lookups = NameLookups(resolver)
    finds = [asyncio.create_task(lookups.find(HONEST, "silent.example", 443)) for _ in range(20)]
    await resolver.until_asked(1)
    resolver.go_on.set()
    assert await asyncio.gather(*finds) == [FOUND] * 20
    assert resolver.asked == ["silent.example"]
    await lookups.find(HONEST, "silent.example", 443)
    assert len(resolver.asked) == 2


async def test_other_orgs_are_answered_when_the_names_of_one_never_are(resolver: Resolver) -> None:
    lookups = NameLookups(resolver, max_in_all=4, max_of_org=3)
    hosts = [f"silent{number}.example" for number in range(30)]
    hostile = [asyncio.create_task(lookups.find(HOSTILE, host, 443)) for host in hosts]
    await resolver.until_asked(3)
    async with asyncio.timeout(PATIENCE):
        assert await lookups.find(HONEST, "quick.example", 443) == FOUND
    assert resolver.asked == [*hosts[:3], "quick.example"]
    resolver.go_on.set()
    assert await asyncio.gather(*hostile) == [FOUND] * 30


async def test_the_rest_waits_when_as_many_as_may_be_are_looked_up(resolver: Resolver) -> None:
    lookups = NameLookups(resolver, max_in_all=2, max_of_org=1)
    finds = [asyncio.create_task(lookups.find(new_id(), f"silent{number}.example", 80)) for number in range(5)]
    await resolver.until_asked(2)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(resolver.asked) == 2
    resolver.go_on.set()
    assert await asyncio.gather(*finds) == [FOUND] * 5


async def test_look_up_keeps_its_place_and_goes_on_when_who_asked_gives_up(resolver: Resolver) -> None:
    lookups = NameLookups(resolver, max_in_all=2, max_of_org=1)
    impatient = asyncio.create_task(lookups.find(HONEST, "silent.example", 443))
    await resolver.until_asked(1)
    impatient.cancel()
    await asyncio.wait([impatient])
    patient = asyncio.create_task(lookups.find(HONEST, "silent.example", 443))
    behind = asyncio.create_task(lookups.find(HONEST, "quick.example", 443))
    for _ in range(20):
        await asyncio.sleep(0)
    assert resolver.asked == ["silent.example"]
    resolver.go_on.set()
    assert (await patient, await behind) == (FOUND, FOUND)


async def test_all_who_asked_are_told_when_the_name_cannot_be_resolved(resolver: Resolver) -> None:
    resolver.error = OSError("no such name")
    lookups = NameLookups(resolver)
    finds = [lookups.find(HONEST, "nowhere.example", 443) for _ in range(3)]
    assert await asyncio.gather(*finds, return_exceptions=True) == [resolver.error] * 3


GIVES_UP = """
import asyncio, socket, sys, threading
import httpx, uvloop
from headrace.workers.webhook_dispatcher.pinning import NameUnanswered, PinnedTransport

async def run():
    transport = PinnedTransport(httpx.MockTransport(lambda request: httpx.Response(204)))
    timeout = httpx.Timeout(5, connect=0.05)
    async with httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as client:
        try:
            await client.post("http://silent.example/")
        except NameUnanswered as error:
            print(error)

socket.getaddrinfo = lambda *wanted, **more: threading.Event().wait()
asyncio.run(run(), loop_factory=uvloop.new_event_loop if sys.argv[1] == "uvloop" else None)
"""


@pytest.mark.processes
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_the_process_ends_when_a_look_up_hangs(loop: str) -> None:
    argv = [sys.executable, "-c", GIVES_UP, loop]
    said = subprocess.run(argv, capture_output=True, check=True, timeout=40)  # noqa: S603 - fixed argv, no shell
    assert said.stdout == b"the host's name was not resolved in time\n"
    assert said.stderr == b""
