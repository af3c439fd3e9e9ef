"""Work items: the queue."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611301200"
down_revision = None


def upgrade() -> None:
    """Create `queue.work_items`."""
    run_up(__file__)


def downgrade() -> None:
    """Drop `queue.work_items`."""
    run_down(__file__)
