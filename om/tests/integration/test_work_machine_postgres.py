"""The machine over PostgreSQL."""

import pytest

from headrace.om.storage.options import DatabaseOptions
from om.tests.stateful.ground import postgres_ground
from om.tests.stateful.machine import TIMEOUT_SECONDS, asked_for, drive

pytestmark = pytest.mark.servers


@pytest.mark.timeout(TIMEOUT_SECONDS)
def test_the_queue_keeps_its_promises_over_postgres(database_options: DatabaseOptions, module_admin_dsn: str) -> None:
    with postgres_ground(database_options, module_admin_dsn) as ground:
        drive(ground, num_examples=asked_for(25), num_steps=30)
