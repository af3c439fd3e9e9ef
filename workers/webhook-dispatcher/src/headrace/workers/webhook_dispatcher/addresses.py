"""Which addresses a webhook may be posted to; pure.

A tenant chooses the URL, so that a request must never reach what only this network can reach: metadata
services, databases, the process's own ports.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

_NAT64: Final = IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")

# Special blocks beyond what `is_global` leaves out, which is not the same in every release of Python.
_SPECIAL_V4: Final = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv4Network("192.88.99.0/24"),  # relays of 6to4, withdrawn
)
_SPECIAL_V6: Final = (
    IPv6Network("2001::/23"),  # protocol assignments: Teredo, benchmarking, overlay identifiers
    IPv6Network("2002::/16"),  # 6to4: leads to an embedded IPv4 address
    IPv6Network("3fff::/20"),  # documentation
)


class AddressRefused(Exception):  # noqa: N818 - named like the project's other exceptions, by what is the case
    """A host resolved to an address that webhooks must not be posted to."""


def check_addresses(addresses: Sequence[Address], *, allow_private: bool, allowed: Sequence[Network]) -> None:
    """Return when every address may be posted to.

    One that may not refuses all: a name that mixes public and private addresses is an attack or a mistake.

    Args:
        addresses: What a host resolved to; the very addresses that are connected to afterwards.
        allow_private: Whether every address is allowed, for local runs.
        allowed: Networks that are allowed although they are not public.

    Raises:
        AddressRefused: One may not, or there is none. The sentence names no address: its reader is the tenant.
    """
    if not addresses:
        raise AddressRefused("the host has no address")
    if not allow_private and not all(is_public(each) or _is_within(each, allowed) for each in addresses):
        raise AddressRefused("the host resolves to an address that is not public")


def is_public(address: Address) -> bool:
    """Return whether the address is one that hosts of the public internet have.

    Loopback, private, carrier-grade NAT, link-local, multicast, unspecified, documentation and reserved
    addresses are not. An IPv6 address that stands for an IPv4 one (mapped, NAT64) is judged as that one;
    of the other IPv6 addresses only global unicast is public, without what tunnels elsewhere.

    Source: IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates).
    """
    meant = _meant(address)
    if not meant.is_global or meant.is_multicast:
        return False
    if isinstance(meant, IPv4Address):
        return not (meant.is_reserved or any(meant in block for block in _SPECIAL_V4))
    return meant in _GLOBAL_UNICAST and not any(meant in block for block in _SPECIAL_V6)


def parse_address(text: str) -> Address:
    """Return the address that a resolver wrote; a zone (`%eth0`) is dropped: such addresses are never public.

    Raises:
        ValueError: It is none.
    """
    return ip_address(text.partition("%")[0])


def _meant(address: Address) -> Address:
    """Return the address that packets end up at."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address


def _is_within(address: Address, networks: Sequence[Network]) -> bool:
    meant = _meant(address)
    return any(meant in network for network in networks if network.version == meant.version)
