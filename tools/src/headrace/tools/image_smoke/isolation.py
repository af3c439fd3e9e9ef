"""A network of nothing but a loopback interface, for this process and everything that it starts."""

import fcntl
import os
import socket
import struct
import sys
from typing import Final

from headrace.tools.image_smoke.exceptions import SmokeError

# Source: netdevice(7) and linux/sockios.h.
SIOCGIFFLAGS: Final = 0x8913
SIOCSIFFLAGS: Final = 0x8914
IFF_UP: Final = 0x1
IFREQ: Final = "16sh22x"


def leave_the_network() -> None:
    """Move this process into a network namespace of its own and bring its loopback interface up.

    Call it before any thread is started: a thread keeps the network that it was started in.

    Raises:
        SmokeError: This account may not do that, or this is not Linux.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        raise SmokeError("an image is run in a network of its own, which takes Linux and root: start this with sudo")
    try:
        os.unshare(os.CLONE_NEWNET)
        _raise_loopback()
    except OSError as error:
        raise SmokeError(f"no network of its own can be had here: {error.strerror}") from error


def network_path() -> str:
    """Return the path by which a container engine joins this process's network."""
    return f"/proc/{os.getpid()}/ns/net"


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack(IFREQ, b"lo", 0))
        _, flags = struct.unpack(IFREQ, asked)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack(IFREQ, b"lo", flags | IFF_UP))
