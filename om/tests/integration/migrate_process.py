"""What each of many processes runs that migrate one database at once."""

import asyncio

from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import DatabaseOptions


def migrate_and_exit(options: DatabaseOptions) -> None:
    """The whole life of the process; it ends with an error where migrating fails."""
    asyncio.run(migrate(options))
