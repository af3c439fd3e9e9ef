"""Which certificate authorities the process trusts."""

import logging
import ssl
from collections.abc import Callable

_logger = logging.getLogger(__name__)


def use_system_trust_store() -> tuple[str, Callable[[], None]]:
    """Lets every TLS connection of the process verify against the system's own store.

    Where the platform gives no access to that store, Python's default (OpenSSL's CA files, SSL_CERT_FILE) stays in
    use, and a warning says so.

    Returns:
        What is in use, for a log line, and a function that takes it back.
    """
    try:
        import truststore  # noqa: PLC0415 - refuses to be imported on platforms that it does not know

        truststore.inject_into_ssl()
    except (ImportError, NotImplementedError, OSError) as error:
        _logger.warning("the system's trust store cannot be used (%s); using OpenSSL's CA files", error)
        return f"OpenSSL ({ssl.get_default_verify_paths().cafile or 'built-in paths'})", lambda: None
    return "system", truststore.extract_from_ssl
