"""The plain worker."""
