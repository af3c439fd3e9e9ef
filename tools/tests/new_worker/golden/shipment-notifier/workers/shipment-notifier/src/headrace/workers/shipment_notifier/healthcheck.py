"""The probe of the shipment notifier worker: `python -m` exits 0 when it is alive, else 1."""

import sys

from headrace.workers.kit.healthcheck import healthcheck_main
from headrace.workers.shipment_notifier.settings import ShipmentNotifierSettings


def main() -> int:
    """Return 0 when the process whose environment this is is alive, else 1 with the reasons on standard error."""
    return healthcheck_main(ShipmentNotifierSettings)


if __name__ == "__main__":
    sys.exit(main())
