"""The work manager: its parts, one for each reader of the interface."""

from headrace.om.work.impl.bundles import WorkBundleImpl
from headrace.om.work.impl.controlling import WorkControlImpl
from headrace.om.work.impl.enqueue import WorkEnqueueImpl
from headrace.om.work.impl.holding import WorkHolderImpl
from headrace.om.work.impl.operating import WorkOperatorImpl
from headrace.om.work.impl.scheduling import WorkScheduleImpl
from headrace.om.work.impl.sweeping import WorkSweepImpl
from headrace.om.work.manager import WorkManagerInterface


class WorkManagerImpl(
    WorkEnqueueImpl,
    WorkHolderImpl,
    WorkOperatorImpl,
    WorkBundleImpl,
    WorkControlImpl,
    WorkScheduleImpl,
    WorkSweepImpl,
    WorkManagerInterface,
):
    """The work queue over any storage; see `impl.parts.WorkParts` for what it is built from."""
