"""The x2 worker."""
