"""What ends a bench with a sentence."""


class BenchError(Exception):
    """Nothing could be measured; the message is for the person at the terminal."""
