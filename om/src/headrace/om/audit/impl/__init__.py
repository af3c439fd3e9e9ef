"""The audit manager's implementation."""
