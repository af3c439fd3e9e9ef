"""What bounds, orders and pauses claims, and whose turn an item waits for."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611302310"
down_revision = "202611302300"


def upgrade() -> None:
    """Create `queue.work_controls`, its gate, and the columns of items that claims go by."""
    run_up(__file__)


def downgrade() -> None:
    """Drop them."""
    run_down(__file__)
