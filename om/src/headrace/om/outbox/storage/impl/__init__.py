"""The storages of outbox rows."""
