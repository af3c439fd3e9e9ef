"""Finds the settings class of a program of the tree."""

import importlib
import inspect

from headrace.infra.settings import ProcessSettings


def settings_class(name: str) -> type[ProcessSettings]:
    """Return the one settings class that the program of a folder declares.

    Args:
        name: The folder below `workers/`; its package must be installed.

    Raises:
        ImportError: The package or its module `settings` is not there.
        ValueError: The module declares no settings class, or several.
    """
    module = importlib.import_module(f"headrace.workers.{name.replace('-', '_')}.settings")
    (found,) = (
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, ProcessSettings) and each.__module__ == module.__name__
    )
    return found
