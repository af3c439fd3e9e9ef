"""Implementations of the record of handled keys; import the one that the settings choose."""
