"""What every storage of the work queue does: subclassed once over memory and once over PostgreSQL.

Cases move no clock. A lease of a microsecond has passed by the next statement, and items that wait start in
the past.
"""

from om.tests.contracts.work_bundles import BundleCases, OtherTenantBundleCases
from om.tests.contracts.work_counting import CountingCases
from om.tests.contracts.work_creating import ClaimCases, CreateCases
from om.tests.contracts.work_follow_ups import ComesAgainCases, FollowUpCases, StrangeKindCases
from om.tests.contracts.work_limiting import LimitCases
from om.tests.contracts.work_operating import OperatorCases, OtherTenantCases
from om.tests.contracts.work_ordering import OrderCases
from om.tests.contracts.work_racing import RaceCases
from om.tests.contracts.work_rates import RateCases
from om.tests.contracts.work_schedules import ScheduleCases
from om.tests.contracts.work_settling import LeaseCases, SettleCases
from om.tests.contracts.work_sharing import PauseCases, ShareCases, UnfairCases
from om.tests.contracts.work_sweeping import SweepCases
from om.tests.contracts.work_uniqueness import UniquenessCases


class WorkStorageContract(
    CreateCases,
    ClaimCases,
    SettleCases,
    LeaseCases,
    SweepCases,
    OperatorCases,
    OtherTenantCases,
    BundleCases,
    CountingCases,
    OtherTenantBundleCases,
    UniquenessCases,
    FollowUpCases,
    ComesAgainCases,
    StrangeKindCases,
    ShareCases,
    UnfairCases,
    PauseCases,
    LimitCases,
    RateCases,
    RaceCases,
    OrderCases,
    ScheduleCases,
):
    """The whole contract; a subclass gives the fixtures `storage`, and `unfair` with fair share off."""
