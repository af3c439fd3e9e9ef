"""The index that the heads of ordering keys are found by, in place of the former one."""

from headrace.om.storage.migration_scripts import run_concurrently

revision = "202612010430"
down_revision = "202612010300"


def upgrade() -> None:
    """Build the new index while the table is in use, then drop the former one."""
    run_concurrently(__file__)


def downgrade() -> None:
    """Build the former one again, then drop the new one."""
    run_concurrently(__file__, "down")
