"""Audit entries and events."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611301200"
down_revision = None


def upgrade() -> None:
    """Create the tables of audit and events."""
    run_up(__file__)


def downgrade() -> None:
    """Drop them."""
    run_down(__file__)
