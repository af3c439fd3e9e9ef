"""The indexes of uniqueness beyond the key and of a bundle's items."""

from headrace.om.storage.migration_scripts import run_concurrently

revision = "202611302300"
down_revision = "202611302255"


def upgrade() -> None:
    """Build the indexes while the table is in use."""
    run_concurrently(__file__)


def downgrade() -> None:
    """Drop them while the table is in use."""
    run_concurrently(__file__, "down")
