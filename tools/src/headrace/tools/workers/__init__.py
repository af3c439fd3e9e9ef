"""The workers of a tree as their projects declare them; images, compose, Terraform inputs and CI take theirs from here.

Reading needs the standard library alone, so that a workflow can ask before anything is installed.
"""

from headrace.tools.workers.declaration import WorkerDeclaration
from headrace.tools.workers.exceptions import WorkerDeclarationError
from headrace.tools.workers.reading import ImageDeclaration, read_images, read_workers

__all__ = ["ImageDeclaration", "WorkerDeclaration", "WorkerDeclarationError", "read_images", "read_workers"]
