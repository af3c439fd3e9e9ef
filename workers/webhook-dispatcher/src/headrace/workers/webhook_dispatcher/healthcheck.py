"""The probe of the webhook dispatcher worker: `python -m` exits 0 when it is alive, else 1."""

import sys

from headrace.workers.kit.healthcheck import healthcheck_main
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings


def main() -> int:
    """Return 0 when the process whose environment this is is alive, else 1 with the reasons on standard error."""
    return healthcheck_main(WebhookDispatcherSettings)


if __name__ == "__main__":
    sys.exit(main())
