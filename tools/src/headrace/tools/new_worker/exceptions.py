"""How the generator refuses; each message is for the developer, and none leaves anything behind in the tree."""


class GeneratorError(Exception):
    """Every refusal of the generator."""


class UsageError(GeneratorError):
    """The command line is incomplete or contradicts itself."""


class WrongNameError(GeneratorError):
    """The name of the worker, the kind, the lane or a payload field will not do."""


class TreeError(GeneratorError):
    """The tree is not one that the generator knows its way in."""


class ConflictError(GeneratorError):
    """The tree already says something else where the generator would write."""


class StepFailedError(GeneratorError):
    """A command that the change needs has failed; the change is taken back."""
