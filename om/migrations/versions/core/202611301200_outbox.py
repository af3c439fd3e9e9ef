"""Outbox rows: side effects of core writes, until the relay has carried them on."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611301200"
down_revision = None


def upgrade() -> None:
    """Create `core.outbox_rows`."""
    run_up(__file__)


def downgrade() -> None:
    """Drop `core.outbox_rows`."""
    run_down(__file__)
