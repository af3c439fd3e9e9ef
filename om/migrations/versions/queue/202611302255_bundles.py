"""Bundles, uniqueness beyond the key, and settlements that are known again."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611302255"
down_revision = "202611301200"


def upgrade() -> None:
    """Create `queue.work_bundles` and the columns of items that go with it."""
    run_up(__file__)


def downgrade() -> None:
    """Drop both."""
    run_down(__file__)
