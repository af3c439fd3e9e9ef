"""Shapes of modules that the namespace has a share in."""

# What is there with the namespace, and without it.
SHAPES = {
    "a class's field, its entry in the docstring and what is made of it": (
        '''
        """Doc."""

        from dataclasses import dataclass

        from acme.om.audit import AuditManager
        from acme.om.work import WorkManager


        @dataclass
        class Managers:
            """All.

            Attributes:
                audit: Who did what.
                work: What is to be done,
                    and when.
            """

            audit: AuditManager
            work: WorkManager


        def build() -> Managers:
            """Return all."""
            audit = AuditManager()
            work = WorkManager(audit)
            return Managers(audit=audit, work=work)
        ''',
        '''
        """Doc."""

        from dataclasses import dataclass

        from acme.om.audit import AuditManager


        @dataclass
        class Managers:
            """All.

            Attributes:
                audit: Who did what.
            """

            audit: AuditManager


        def build() -> Managers:
            """Return all."""
            audit = AuditManager()
            return Managers(audit=audit)
        ''',
    ),
    "a parameter, what is kept of it and the branch that uses it": (
        '''
        from acme.om.work import WorkManager


        class Relay:
            """Relays.

            Args:
                topics: Who hears.
                work: Where work goes.
                hold: How long.
            """

            def __init__(self, topics: int, work: WorkManager, *, hold: int = 3) -> None:
                self._topics = topics
                self._work = work
                self._hold = hold

            def relay(self, row: str) -> int:
                """Relay one."""
                try:
                    # Work goes elsewhere.
                    if row.startswith("work."):
                        return self._work.enqueue(row)
                    return self._topics
                except ValueError:
                    return 0
        ''',
        '''
        class Relay:
            """Relays.

            Args:
                topics: Who hears.
                hold: How long.
            """

            def __init__(self, topics: int, *, hold: int = 3) -> None:
                self._topics = topics
                self._hold = hold

            def relay(self, row: str) -> int:
                """Relay one."""
                try:
                    return self._topics
                except ValueError:
                    return 0
        ''',
    ),
    "a table by name in dictionaries of either form": (
        """
        ROLES = {
            "orgs": 1,
            # The queue.
            "work_items": 2,  # one row an item
            "events": 3,
        }
        SCOPES = frozenset({"work_items", "orgs"})
        ALONE = frozenset({"work_items"})
        LAST = ["orgs", "work_items"]
        """,
        """
        ROLES = {
            "orgs": 1,
            "events": 3,
        }
        SCOPES = frozenset({"orgs"})
        ALONE = frozenset()
        LAST = ["orgs"]
        """,
    ),
    "a getter among getters, with its decorator": (
        '''
        from abc import ABC, abstractmethod

        from acme.om.audit import AuditStorage
        from acme.om.work.storage import BundleStorage, WorkStorage


        class Storage(ABC):
            """Storages."""

            @abstractmethod
            def get_work(self) -> WorkStorage:
                """Return the queue's."""
                ...

            @abstractmethod
            def get_audit(self) -> AuditStorage:
                """Return the audit's."""
                ...

            @abstractmethod
            def get_bundles(self) -> BundleStorage:
                """Return the bundles'."""
                ...
        ''',
        '''
        from abc import ABC, abstractmethod

        from acme.om.audit import AuditStorage


        class Storage(ABC):
            """Storages."""

            @abstractmethod
            def get_audit(self) -> AuditStorage:
                """Return the audit's."""
                ...
        ''',
    ),
    "a function, with the helpers and imports that only it uses": (
        '''
        from datetime import datetime, timedelta
        from typing import Final

        from acme.om.base import Row, utcnow
        from acme.om.work.types import WorkKind

        _AT: Final = "payload"


        def entity_row(at: datetime) -> Row:
            """Return one."""
            return Row(at)


        def work_row(kind: WorkKind, at: datetime, delay: timedelta) -> Row:
            """Return one."""
            return Row(_due(at, delay), kind, _AT)


        def _due(at: datetime, delay: timedelta) -> datetime:
            return utcnow() + delay
        ''',
        '''
        from datetime import datetime

        from acme.om.base import Row


        def entity_row(at: datetime) -> Row:
            """Return one."""
            return Row(at)
        ''',
    ),
    "a method of many names in lines too long for one": (
        """
        from acme.om.work.manager import (
            WorkEnqueueInterface,
            WorkManagerInterface,
        )


        def pick(first: int, second: WorkManagerInterface | None = None) -> int:
            return first


        other = pick(
            1, WorkEnqueueInterface.default
        )
        """,
        """
        def pick(first: int) -> int:
            return first


        other = pick(
            1
        )
        """,
    ),
    "the first members of a class, and all arguments of a call": (
        '''
        from acme.om.work import BundleManager, WorkManager


        class Managers:
            """All."""

            work: WorkManager
            bundles: BundleManager
            others: int = 0

            def close(self) -> None:
                """Close all."""


        class Topics:
            """Heard."""

            WORK: WorkManager
            OTHER = "other"


        managers = Managers(work=WorkManager(), bundles=BundleManager())
        ''',
        '''
        class Managers:
            """All."""

            others: int = 0

            def close(self) -> None:
                """Close all."""


        class Topics:
            """Heard."""

            OTHER = "other"


        managers = Managers()
        ''',
    ),
}
