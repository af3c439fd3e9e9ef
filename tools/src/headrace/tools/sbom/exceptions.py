"""What a bill cannot be made of."""


class BillError(Exception):
    """The input cannot be understood; the sentence names it."""
