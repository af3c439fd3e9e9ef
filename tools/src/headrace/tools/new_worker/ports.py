"""Which port a worker serves its metrics on: a hash of its name, so that no list of ports has to be kept.

Two workers that are made in either order get the same ports, as long as their names do not meet in the hash. Where
they do, the second takes the next hash of its name, so the order decides; on two branches neither knows of the other,
and the test that compares the ports of all workers tells after the merge.
"""

import hashlib
from collections.abc import Collection
from typing import Final

from headrace.tools.new_worker.exceptions import TreeError

FIRST_PORT: Final = 9110
NUM_PORTS: Final = 790
"""How many ports the hash chooses among, from the first: below them are the workers that came with the tree."""
_NUM_ROUNDS: Final = 10_000


def choose_port(worker_name: str, taken: Collection[int]) -> int:
    """Return the port of a worker.

    Args:
        worker_name: In kebab case.
        taken: The ports of all other workers.

    Raises:
        TreeError: Every port that the name leads to is taken.
    """
    for round_ in range(_NUM_ROUNDS):
        port = _hashed_port(worker_name, round_)
        if port not in taken:
            return port
    raise TreeError(f"No metrics port from {FIRST_PORT} to {FIRST_PORT + NUM_PORTS - 1} is left for {worker_name}.")


def _hashed_port(worker_name: str, round_: int) -> int:
    digest = hashlib.sha256(f"{worker_name}#{round_}".encode()).digest()
    return FIRST_PORT + int.from_bytes(digest[:8]) % NUM_PORTS
