"""Which addresses are public, and what a refusal says."""

from ipaddress import ip_address, ip_network

import pytest

from headrace.workers.webhook_dispatcher.addresses import AddressRefused, check_addresses, is_public, parse_address

REFUSED = [
    "0.0.0.0",  # noqa: S104 - an address to refuse, nothing binds to it
    "0.1.2.3",
    "10.1.1.1",
    "100.64.0.1",
    "100.127.255.254",
    "127.0.0.1",
    "127.255.0.9",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.9",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::808:808",
    "::ffff:0:0",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700::1111"]


@pytest.mark.parametrize("text", REFUSED)
def test_address_is_not_public_when_it_is_special(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_address_is_public_when_it_is_global_unicast(text: str) -> None:
    assert is_public(ip_address(text))


def test_all_are_refused_when_one_is_private() -> None:
    addresses = [ip_address("8.8.8.8"), ip_address("10.0.0.1")]
    with pytest.raises(AddressRefused, match="not public") as refusal:
        check_addresses(addresses, allow_private=False, allowed=())
    assert "10.0.0.1" not in str(refusal.value)


def test_none_is_refused_when_there_is_no_address() -> None:
    with pytest.raises(AddressRefused, match="no address"):
        check_addresses([], allow_private=True, allowed=())


@pytest.mark.parametrize("text", ["10.1.2.3", "::ffff:10.1.2.3", "fd00::5"])
def test_private_address_passes_when_its_network_is_allowed(text: str) -> None:
    allowed = (ip_network("10.1.0.0/16"), ip_network("fd00::/8"))
    check_addresses([ip_address(text)], allow_private=False, allowed=allowed)


def test_private_address_is_refused_when_another_network_is_allowed() -> None:
    with pytest.raises(AddressRefused):
        check_addresses([ip_address("10.2.0.1")], allow_private=False, allowed=(ip_network("10.1.0.0/16"),))


def test_private_address_passes_when_all_are_allowed() -> None:
    check_addresses([ip_address("127.0.0.1")], allow_private=True, allowed=())


def test_zone_is_dropped_when_an_address_is_parsed() -> None:
    assert parse_address("fe80::1%lo") == ip_address("fe80::1")
