"""Edits of files that several workers share, as pure functions from text to outcome."""

from headrace.tools.new_worker.edits.outcome import AlreadyThere, Cannot, Done, Edit, EditOutcome

__all__ = ["AlreadyThere", "Cannot", "Done", "Edit", "EditOutcome"]
