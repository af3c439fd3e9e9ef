"""The one error of the lock tool."""


class LockError(Exception):
    """The lock cannot be converted or is not what it should be; the message is a sentence for the developer."""
