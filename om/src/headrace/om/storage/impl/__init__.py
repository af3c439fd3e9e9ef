"""The storage roots' implementations."""
