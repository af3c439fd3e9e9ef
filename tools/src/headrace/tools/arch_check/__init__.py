"""Reads the source tree and reports where it breaks the rules of the architecture.

Nothing of the checked tree is imported or run; everything is decided from syntax, so a broken tree can still be
checked. Run it as `python -m headrace.tools.arch_check`.
"""
