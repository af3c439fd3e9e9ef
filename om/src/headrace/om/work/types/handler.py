"""The handler: what a worker does with an item of one kind, and how it steers what comes after."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headrace.om.context import OpContext
from headrace.om.work.types.work_item import WorkItem


class Claim(ABC):
    """A handler's read-only view of the claim that it runs under.

    Safe to share with the handler's own tasks and threads; nothing here writes.
    """

    @property
    @abstractmethod
    def item(self) -> WorkItem:
        """The item as it was claimed."""
        ...

    @property
    @abstractmethod
    def token(self) -> UUID:
        """The claim token, to be passed on as a fence where the other side takes one."""
        ...

    @property
    @abstractmethod
    def deadline(self) -> datetime:
        """When this run is cancelled at the latest, in this process's time; renewals do not move it."""
        ...

    @property
    @abstractmethod
    def cancelled(self) -> asyncio.Event:
        """Set once the item's cancel was asked for, its lease was lost, or the worker drains."""
        ...

    @abstractmethod
    async def still_held(self) -> bool:
        """Return whether the claim still holds the item, by asking the queue now.

        For the moment before an effect outside that must not happen twice. False also when the queue
        cannot be asked.
        """
        ...


class WorkHandlerInterface(ABC):
    """Does the work of one kind."""

    @abstractmethod
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:  # noqa: ANN401 - any JSON value is a result
        """Do the item's work and return its result: a JSON value, None, or `Done` with items that follow.

        It may run again with the same item: after a crash, a lost lease or a failure. It settles nothing
        itself; how it ends decides.

        Args:
            ctx: The context that the claim returned: the item's tenant, under the service role.
            item: The item as it was claimed.

        Raises:
            RetryLater, Defer, Park, Refuse: Steer what becomes of the item.
            Exception: Anything else is a failed attempt.
        """
        ...


class Done:
    """What a handler returns when more work follows from its success.

    Args:
        result: The result, as without this.
        then: Items that are enqueued in the transaction that settles this one: all of them, or, where the claim was
            lost, none. One whose id or key is there already is left out. Who is named as having asked is who asked
            for the item itself.
    """

    def __init__(self, result: Any = None, *, then: Sequence[WorkItem] = ()) -> None:  # noqa: ANN401 - any JSON value
        self.result = result
        self.then = tuple(then)


class Steering(Exception):  # noqa: N818 - these are answers, not errors
    """The base of what a handler raises to steer what becomes of its item."""


class RetryLater(Steering):
    """The attempt failed; try again, after this long when it is given, else by the kind's policy."""

    def __init__(self, reason: str = "", *, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Defer(Steering):
    """Not now: hand the item back for this long and count no attempt."""

    def __init__(self, delay: timedelta, reason: str = "") -> None:
        super().__init__(reason)
        self.delay = delay


class Park(Steering):
    """Not before an instant, for a reason that operators see; counts no attempt."""

    def __init__(self, reason: str, until: datetime) -> None:
        super().__init__(reason)
        self.until = until


class Refuse(Steering):
    """No attempt can ever succeed: a dead letter at once."""

    def __init__(self, reason: str, *, code: str = "refused") -> None:
        super().__init__(reason)
        self.code = code
