"""Webhooks: the endpoints of tenants and the messages that are posted to them."""

from headrace.om.storage.migration_scripts import run_down, run_up

revision = "202611301220"
down_revision = "202611301210"


def upgrade() -> None:
    """Create `core.webhook_endpoints` and `core.webhook_messages`."""
    run_up(__file__)


def downgrade() -> None:
    """Drop both tables."""
    run_down(__file__)
