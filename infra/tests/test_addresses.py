"""Addresses of backends: what is shown of one and which are refused."""

import pytest

from headrace.infra.addresses import check_scheme, shown_address
from headrace.infra.exceptions import ConfigurationInvalid


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://cache:6379/0", "redis://cache:6379/0"),
        ("redis://user:p@ss@cache/0?password=x", "redis://cache/0"),
        ("postgresql://u:p@one:1,two:2/queue?sslmode=require", "postgresql://one:1,two:2/queue"),
        ("unix://user@/run/redis.sock?db=0", "unix:///run/redis.sock"),
        ("postgresql:///queue?host=/run", "postgresql:///queue"),
        ("no address with a secret", "(unreadable address)"),
        ("redis://[broken", "(unreadable address)"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(url: str, shown: str) -> None:
    assert shown_address(url) == shown


def test_an_address_is_refused_unseen_when_its_scheme_is_another() -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        check_scheme("redis cache", "http://user:hidden@cache", ("redis", "rediss"))
    assert str(caught.value) == "redis cache needs an address that begins with one of redis, rediss and ://"
