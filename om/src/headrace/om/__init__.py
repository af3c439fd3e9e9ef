"""The object model: entities, contexts, managers and their storage."""
