"""A work manager over memory with what the cases look at."""

import asyncio
from datetime import timedelta
from uuid import uuid4

from headrace.infra.topics import TopicPayload, Topics, WorkAvailable
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.audit.impl.manager import AuditManagerImpl
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from om.tests.contracts.work_items import KINDS, LANE, LEASE


class Queue:
    """A work manager over memory with what a case looks at."""

    def __init__(self) -> None:
        self.storage = StorageMemoryImpl()
        self.topics = TopicsInProcessImpl()
        self.wakeups = CoalescedWakeups(self.topics, window=timedelta(0))
        self.tenancy = TenancyManagerImpl(self.storage.get_tenancy_storage(), principal_ttl=timedelta(0))
        self.audit = AuditManagerImpl(self.storage.get_audit_storage())
        self.dead_letters = list[WorkKind]()
        self.woken: asyncio.Queue[WorkAvailable] = asyncio.Queue()
        self.rctx = RequestContext(app=AppContext(type=AppType.TEST, version="tests@0"), traceparent="00-ab-cd-01")
        parts = WorkParts(
            self.storage.get_work_storage(),
            self.tenancy,
            self.audit,
            self.wakeups,
            self.topics,
            self.dead_letters.append,
        )
        self.work = WorkManagerImpl(parts)

    async def start(self) -> None:
        await self.topics.start()
        await self.wakeups.start()
        await self.topics.subscribe(Topics.WORK_AVAILABLE, self._heard)

    async def close(self) -> None:
        await self.wakeups.close()
        await self.topics.close()

    async def _heard(self, message: TopicPayload) -> None:
        assert isinstance(message, WorkAvailable)
        await self.woken.put(message)

    async def owner_of_new_org(self) -> OpContext:
        return await self.tenancy.create_org(self.rctx, *self.new_org())

    @staticmethod
    def new_org() -> tuple[Org, User]:
        return Org(name="Org"), User(name="Owner", login_name=uuid4().hex)

    async def claim(self, lease: timedelta = LEASE) -> tuple[OpContext, WorkItem]:
        claimed = await self.work.claim(self.rctx, LANE, KINDS, "worker-1", lease)
        assert claimed is not None
        return claimed
