"""The one error of the declarations."""


class WorkerDeclarationError(Exception):
    """A worker's project declares it wrongly; the message names the file and the key, and says what was expected."""
