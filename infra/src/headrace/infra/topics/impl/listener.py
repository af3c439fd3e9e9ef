"""The listener: holds one connection to a backend for ever, proves that it hears, and never spins."""

import asyncio
import logging
import random
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Final
from uuid import uuid4

from headrace.infra.exceptions import BackendUnavailable, ConfigurationInvalid
from headrace.infra.outages import Outage

logger = logging.getLogger(__name__)

MAX_DOUBLINGS: Final = 16

type MessageSink = Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True)
class ListenerOptions:
    """Bounds of a listener; every duration is above zero.

    Attributes:
        connect_timeout: The longest wait for a connection.
        command_timeout: The longest wait for one command, a publish included.
        self_test_interval: Time between two proofs that the connection hears.
        self_test_timeout: How long the listener's own message may take; a connection that is later is given up.
        backoff_base: The first wait after a failure, before jitter.
        backoff_cap: The longest wait between two attempts.
        stable_after: A connection that worked this long makes the waits start small again.
        subscribe_timeout: The longest that ``subscribe`` waits for the backend's confirmation.
        queue_size: How many messages wait for one subscriber at most.

    Raises:
        ConfigurationInvalid: A value is out of its range, or the cap is below the base.
    """

    connect_timeout: timedelta = timedelta(seconds=5)
    command_timeout: timedelta = timedelta(seconds=2)
    self_test_interval: timedelta = timedelta(seconds=10)
    self_test_timeout: timedelta = timedelta(seconds=3)
    backoff_base: timedelta = timedelta(milliseconds=200)
    backoff_cap: timedelta = timedelta(seconds=5)
    stable_after: timedelta = timedelta(seconds=10)
    subscribe_timeout: timedelta = timedelta(seconds=2)
    queue_size: int = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > type(value)():
                raise ConfigurationInvalid(f"listener option {field.name} must be above zero, got {value}")
        if self.backoff_cap < self.backoff_base:
            raise ConfigurationInvalid(
                f"listener option backoff_cap must be at least {self.backoff_base} (backoff_base)"
            )


class ListenerConnectionInterface(ABC):
    """One connection to a backend, from ``open`` to ``close``; never used again after a failure.

    ``listen`` and ``notify`` are called while ``receive`` runs, and may be called by several tasks.
    """

    @abstractmethod
    async def open(self) -> None:
        """Connect.

        Raises:
            Exception: Whatever the driver raises; ``close`` is called next.
        """
        ...

    @abstractmethod
    async def listen(self, channel: str) -> None:
        """Begin to hear a channel; on return the backend has confirmed it."""
        ...

    @abstractmethod
    async def notify(self, channel: str, text: str) -> None:
        """Send a text to everybody who hears the channel, this connection included."""
        ...

    @abstractmethod
    async def receive(self) -> None:
        """Pass what is heard to the sink until the connection is lost.

        Raises:
            Exception: The connection is lost; this method never returns otherwise.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Hang up, within a second and without raising, in whatever state the connection is."""
        ...


type ConnectionFactory = Callable[[MessageSink], ListenerConnectionInterface]


class Backoff:
    """How long to wait before the next attempt: doubling, capped, jittered, and never zero.

    Args:
        options: Base, cap and what counts as stable.
        jitter: A number in [0, 1) for each call.
    """

    def __init__(self, options: ListenerOptions, *, jitter: Callable[[], float] = random.random) -> None:
        self._base = options.backoff_base.total_seconds()
        self._cap = options.backoff_cap.total_seconds()
        self._stable_after = options.stable_after.total_seconds()
        self._jitter = jitter
        self._num_failures = 0

    def next_delay(self, *, worked_for: float) -> float:
        """Return seconds to wait, between half of the full delay and all of it.

        Only a connection that worked for a while resets the doubling, so that one which is lost again and again does
        not cost a reconnection at the base rate.

        Args:
            worked_for: Seconds that the lost connection had worked; zero where it never did.
        """
        if worked_for >= self._stable_after:
            self._num_failures = 0
        full = min(self._cap, self._base * 2.0 ** min(self._num_failures, MAX_DOUBLINGS))
        self._num_failures += 1
        return full * (1 + self._jitter()) / 2


class TopicListener:
    """Keeps hearing the wanted channels across every loss of the connection.

    ``run`` is the only task; all else only changes what it works on.

    Args:
        connect: Makes a new connection object that passes what it hears to the given sink.
        on_message: Called with channel and text for every message but the listener's own.
        backend: Name for log lines, without credentials.
        namespace: First part of the private channel.
        options: Bounds.
        clock: Seconds on a clock that never goes back.
    """

    def __init__(
        self,
        connect: ConnectionFactory,
        on_message: MessageSink,
        *,
        backend: str,
        namespace: str,
        options: ListenerOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect = connect
        self._on_message = on_message
        self._options = options
        self._clock = clock
        self._backoff = Backoff(options)
        self._outage = Outage(backend, logger, clock=clock)
        self._own_channel = f"{namespace}_self_{uuid4().hex}"
        self._wanted: set[str] = set()
        self._confirmed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._connection: ListenerConnectionInterface | None = None
        self._nudge = asyncio.Event()
        self._own_text = ""
        self._own_heard = asyncio.Event()
        self._proved_at: float | None = None
        self._heard_at: float | None = None

    async def run(self) -> None:
        """Connect, listen, prove, and begin again after every fault; ends only by being cancelled."""
        try:
            while True:
                await self._one_connection_apart()
                await asyncio.sleep(self._backoff.next_delay(worked_for=self._worked_for()))
        finally:
            self._heard_at = None

    def want(self, channel: str) -> None:
        """Want a channel to be heard from now on, on this connection and on every one after it."""
        if channel not in self._wanted:
            self._wanted.add(channel)
            self._nudge.set()

    async def confirmed(self, channel: str) -> None:
        """Wait until the backend has confirmed a wanted channel, or until the bound of that wait."""
        try:
            async with asyncio.timeout(self._options.subscribe_timeout.total_seconds()):
                await self._confirmed[channel].wait()
        except TimeoutError:
            logger.debug("%s is not confirmed yet; the listener goes on trying", channel)

    async def publish(self, channel: str, text: str) -> bool:
        """Send over the listener's own connection; False at once while there is none."""
        connection = self._connection
        if connection is None:
            return False
        try:
            async with asyncio.timeout(self._options.command_timeout.total_seconds()):
                await connection.notify(channel, text)
        except Exception as error:  # noqa: BLE001 - a publish is best effort, whatever a driver raises
            logger.debug("a publish to %s was lost: %s", channel, error)
            self._nudge.set()  # a driver may lose a connection in mid-command without telling its own listeners
            return False
        return True

    def last_heard_age(self) -> timedelta | None:
        """Tell how long ago the listener heard itself; None before the first time and when it does not run."""
        return None if self._heard_at is None else timedelta(seconds=self._clock() - self._heard_at)

    def _worked_for(self) -> float:
        return 0.0 if self._proved_at is None else self._clock() - self._proved_at

    async def _one_connection_apart(self) -> None:
        # In a task of its own, since before Python 3.13 a task group that fails may drop a cancel of its task, or
        # leave the count of them wrong; here neither outlives the connection.
        task = asyncio.create_task(self._one_connection(), name="listener connection")
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _one_connection(self) -> None:
        self._proved_at = None
        try:
            await self._live(self._connect(self._take))
        except Exception as error:  # noqa: BLE001 - no fault of a connection may end the listener
            self._outage.failed(error)

    async def _live(self, connection: ListenerConnectionInterface) -> None:
        try:
            async with asyncio.timeout(self._options.connect_timeout.total_seconds()):
                await connection.open()
            await self._serve(connection)
        finally:
            self._connection = None
            for event in self._confirmed.values():
                event.clear()
            await connection.close()

    async def _serve(self, connection: ListenerConnectionInterface) -> None:
        self._connection = connection
        async with asyncio.TaskGroup() as group:
            group.create_task(connection.receive(), name="listener receives")
            group.create_task(self._tend(connection), name="listener tends")

    async def _tend(self, connection: ListenerConnectionInterface) -> None:
        await self._bounded(connection.listen(self._own_channel))
        while True:
            self._nudge.clear()
            await self._hear_wanted(connection)
            await self._prove(connection)
            self._outage.recovered()
            await self._rest()

    async def _hear_wanted(self, connection: ListenerConnectionInterface) -> None:
        for channel in sorted(self._wanted):
            if not self._confirmed[channel].is_set():
                await self._bounded(connection.listen(channel))
                self._confirmed[channel].set()

    async def _prove(self, connection: ListenerConnectionInterface) -> None:
        """Send the listener a message of its own and wait for it: the one proof that messages arrive."""
        self._own_text = uuid4().hex
        self._own_heard.clear()
        await self._bounded(connection.notify(self._own_channel, self._own_text))
        try:
            async with asyncio.timeout(self._options.self_test_timeout.total_seconds()):
                await self._own_heard.wait()
        except TimeoutError:
            raise BackendUnavailable(
                f"the listener did not hear its own message within {self._options.self_test_timeout}; "
                "is there a transaction pooler in between? Listening needs a direct address"
            ) from None

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(self._options.self_test_interval.total_seconds()):
                await self._nudge.wait()
        except TimeoutError:
            return

    async def _bounded[T](self, command: Awaitable[T]) -> T:
        async with asyncio.timeout(self._options.command_timeout.total_seconds()):
            return await command

    def _take(self, channel: str, text: str) -> None:
        if channel != self._own_channel:
            self._on_message(channel, text)
        elif text == self._own_text:
            self._heard_at = self._clock()
            self._proved_at = self._proved_at or self._heard_at
            self._own_heard.set()
