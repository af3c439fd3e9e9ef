"""Implementations of the secret stores; import the ones that the settings choose."""
