"""The tables of webhooks."""
