"""The table of outbox rows."""
