"""The events manager's implementation."""
