"""The work manager's implementation, one module for each reader of its interface."""
