"""Orgs, users, memberships and API keys."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611301210"
down_revision = "202611301200"


def upgrade() -> None:
    """Create the tables of tenancy."""
    run_up(__file__)


def downgrade() -> None:
    """Drop them."""
    run_down(__file__)
