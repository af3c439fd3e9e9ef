"""Implementations of the cache; import the one that the settings choose."""
