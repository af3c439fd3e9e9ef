"""The maintenance worker: the sweep that every worker runs, in a process with no other work."""
