"""Implementations of the topics; import the one that the settings choose."""
