"""What every process does first: logging, metrics, tracing, error reporting, trust store. Importing it is cheap."""

from headrace.infra.boot.log_context import log_context
from headrace.infra.boot.process import BootedProcess, boot

__all__ = ["BootedProcess", "boot", "log_context"]
