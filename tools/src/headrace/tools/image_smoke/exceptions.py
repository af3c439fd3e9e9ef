"""What ends a smoke run early."""


class SmokeError(Exception):
    """The run cannot go on: something on this machine is missing, or the image does not start."""
