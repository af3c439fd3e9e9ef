"""Measures the queue over real servers and real worker processes."""
