"""The generator: adds a worker to a tree as one change that passes every gate, and takes it out again.

The command plans the whole change in memory, prints it, and only then writes it through a journal, so that a failure
at any point leaves the tree as it was. What a worker consists of is in `rendering` and `templates`; the work namespace,
for a tree that has none, in `namespace`.
"""
