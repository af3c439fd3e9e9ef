"""The machine is able to fail: it finds each fault that is planted, and says which promise is broken."""

import pytest

from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from om.tests.stateful import claim_promises as claims
from om.tests.stateful import faults, promises
from om.tests.stateful.ends import STALE
from om.tests.stateful.ground import memory_ground
from om.tests.stateful.machine import TIMEOUT_SECONDS, drive
from om.tests.stateful.settling_again import ONCE, ONE_WINS, TOGETHER
from om.tests.stateful.world import BrokenPromise

pytestmark = pytest.mark.long

PLANTED: dict[type[WorkStorageMemoryImpl], set[str]] = {
    faults.SettlesById: {STALE, TOGETHER, ONCE},
    faults.RenewsById: {STALE},
    faults.ReportsById: {STALE},
    faults.SweepsLiveLeases: {promises.LEASE, promises.GONE, ONE_WINS},
    faults.ClaimsEarly: {claims.EARLY},
    faults.ForgetsRefunds: {promises.MODEL, promises.ATTEMPTS},
    faults.RetriesUncounted: {promises.COUNTED},
    faults.RetriesWhatIsNotUnique: {promises.ONE_KEY},
    faults.FollowsTwice: {promises.FOLLOWED, ONCE},
    faults.CountsTheDead: {claims.FOUND},
    faults.CountsNobody: {claims.LIMITED},
    faults.RunsOutOfOrder: {claims.ORDERED},
    faults.IgnoresPauses: {claims.PAUSED},
    faults.IgnoresRates: {claims.RATED},
    faults.StopsAtWhatIsBlocked: {claims.FOUND},
    faults.ServesTheFirstOrg: {claims.FAIR},
    faults.PurgesWhatWaits: {promises.KEPT, promises.GONE},
    faults.CancelsUnderTheHolder: {promises.LEASE, promises.MODEL, promises.FOLLOWED},
    faults.ReadsAcrossTenants: {promises.OWN_ROWS},
    faults.ForgetsWhatWasWritten: {ONCE},
    faults.WritesTwice: {ONCE},
    faults.KeepsCrashes: {promises.MODEL},
    faults.LosesASettledItem: {promises.SETTLED},
}
"""Each fault, and the promises of which one must be called broken. The rarest is found by one example in a hundred."""


@pytest.mark.timeout(TIMEOUT_SECONDS)
@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_and_called_by_its_name(fault: type[WorkStorageMemoryImpl]) -> None:
    with memory_ground(fault) as ground, pytest.raises(BrokenPromise) as broken:
        drive(ground, num_examples=2000, num_steps=40)
    assert broken.value.promise in PLANTED[fault], f"{fault.__doc__} It was called: {broken.value}"
