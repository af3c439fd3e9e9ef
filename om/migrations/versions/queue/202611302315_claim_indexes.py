"""The indexes that claims go round the orgs by, in place of the former one."""

from headrace.om.storage.migration_scripts import run_concurrently

revision = "202611302315"
down_revision = "202611302310"


def upgrade() -> None:
    """Build the new indexes while the table is in use, then drop the former one."""
    run_concurrently(__file__)


def downgrade() -> None:
    """Build the former one again, then drop the new ones."""
    run_concurrently(__file__, "down")
