"""Schedules: work that comes again and again."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202612010300"
down_revision = "202611302315"


def upgrade() -> None:
    """Create `queue.work_schedules`."""
    run_up(__file__)


def downgrade() -> None:
    """Drop it."""
    run_down(__file__)
