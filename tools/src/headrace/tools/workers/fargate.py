"""Which pairs of CPU and memory a Fargate task may have.

Source: Amazon ECS developer guide, "Task definition parameters for Fargate", task size.
"""

from collections.abc import Mapping
from typing import Final

_GIB: Final = 1024

MEMORY_OF_CPU: Final[Mapping[int, tuple[int, ...]]] = {
    256: (512, 1 * _GIB, 2 * _GIB),
    512: tuple(range(1 * _GIB, 4 * _GIB + 1, _GIB)),
    1024: tuple(range(2 * _GIB, 8 * _GIB + 1, _GIB)),
    2048: tuple(range(4 * _GIB, 16 * _GIB + 1, _GIB)),
    4096: tuple(range(8 * _GIB, 30 * _GIB + 1, _GIB)),
    8192: tuple(range(16 * _GIB, 60 * _GIB + 1, 4 * _GIB)),
    16384: tuple(range(32 * _GIB, 120 * _GIB + 1, 8 * _GIB)),
}
"""CPU shares (1024 is one core) to the sizes of memory in MiB that go with them, ascending."""


def memory_words(cpu: int) -> str:
    """Return the sizes that go with a number of CPU shares, for the end of a sentence."""
    return ", ".join(map(str, MEMORY_OF_CPU[cpu]))
