"""The work namespace for a tree that was made by the same guideline and has none.

The namespace is not stored in the generator: it is the one of the tree that the generator belongs to. `inventory` finds
out which files are its own and which statements, parameters, arguments and elements of shared files depend on it;
`grafting` puts those into another tree's files beside the same siblings, and takes them out again.
"""

from headrace.tools.new_worker.namespace.plan import namespace_plan
from headrace.tools.new_worker.namespace.stripping import strip_namespace

__all__ = ["namespace_plan", "strip_namespace"]
