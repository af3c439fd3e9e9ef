"""The probe of the x2 worker: `python -m` exits 0 when it is alive, else 1."""

import sys

from acme_works.workers.kit.healthcheck import healthcheck_main
from acme_works.workers.x2.settings import X2Settings


def main() -> int:
    """Return 0 when the process whose environment this is is alive, else 1 with the reasons on standard error."""
    return healthcheck_main(X2Settings)


if __name__ == "__main__":
    sys.exit(main())
