"""What roles may do, and how tokens are made and read."""

import pytest

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.context import Permission, Role
from headrace.om.exceptions import ValidationFailed
from headrace.om.tenancy.rules import (
    ROLE_PERMISSIONS,
    compose_token,
    is_secret_of,
    lesser_role,
    new_secret,
    parse_token,
    refuse_service_role,
    secret_hash,
    sign_in_role,
)
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.sign_in import SignIn

MACHINES_ONLY = {
    Permission.WORK_SETTLE,
    Permission.WORK_SWEEP,
    Permission.WEBHOOKS_DELIVER,
    Permission.WEBHOOKS_SWEEP,
    Permission.TENANCY_SWEEP,
    Permission.AUDIT_APPEND,
}


def test_every_role_has_its_permissions() -> None:
    assert set(ROLE_PERMISSIONS) == set(Role)


def test_the_owner_may_all_but_what_machines_do() -> None:
    assert ROLE_PERMISSIONS[Role.OWNER] == set(Permission) - MACHINES_ONLY


def test_the_service_may_everything() -> None:
    assert ROLE_PERMISSIONS[Role.SERVICE] == set(Permission)


def test_a_viewer_only_reads() -> None:
    assert ROLE_PERMISSIONS[Role.VIEWER] == {each for each in Permission if each.endswith(".read")}


def test_a_member_reads_enqueues_operates_and_publishes() -> None:
    more = ROLE_PERMISSIONS[Role.MEMBER] - ROLE_PERMISSIONS[Role.VIEWER]
    assert more == {Permission.WORK_ENQUEUE, Permission.WORK_OPERATE, Permission.WEBHOOKS_PUBLISH}


@pytest.mark.parametrize(
    ("one", "other", "lesser"),
    [
        (Role.OWNER, Role.MEMBER, Role.MEMBER),
        (Role.VIEWER, Role.OWNER, Role.VIEWER),
        (Role.MEMBER, Role.SERVICE, Role.MEMBER),
        (Role.OWNER, Role.OWNER, Role.OWNER),
    ],
)
def test_the_lesser_role_may_less(one: Role, other: Role, lesser: Role) -> None:
    assert lesser_role(one, other) is lesser
    assert ROLE_PERMISSIONS[lesser] == ROLE_PERMISSIONS[one] & ROLE_PERMISSIONS[other]


def test_the_service_role_is_refused_with_a_sentence_and_the_others_pass() -> None:
    for role in (Role.OWNER, Role.MEMBER, Role.VIEWER):
        refuse_service_role(role)
    with pytest.raises(ValidationFailed, match="role: expected owner, member or viewer"):
        refuse_service_role(Role.SERVICE)


def test_a_token_is_read_as_it_was_composed() -> None:
    key_id, secret = new_id(), new_secret()
    assert parse_token(compose_token(key_id, secret)) == (key_id, secret)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "hr_",
        "hr_0_0",
        f"hr_{'0' * 32}_short",
        f"xx_{'0' * 32}_{'a' * 43}",
        f"hr_{'0' * 32}_{'é' * 43}",
        "\ud800",
        f"hr_{'0' * 32}_{'a' * 43}\n",
        f"hr_{'0' * 32}_{'a' * 44}",
    ],
)
def test_nothing_is_read_when_it_is_no_token(token: str) -> None:
    assert parse_token(token) is None


def test_only_the_secret_itself_fits_its_hash() -> None:
    secret = new_secret()
    assert is_secret_of(secret_hash(secret), secret)
    assert not is_secret_of(secret_hash(secret), new_secret())


@pytest.mark.parametrize(
    ("key_role", "member_role", "expected"),
    [(Role.OWNER, Role.VIEWER, Role.VIEWER), (Role.VIEWER, Role.OWNER, Role.VIEWER), (Role.OWNER, None, None)],
)
def test_a_members_key_may_what_both_may(key_role: Role, member_role: Role | None, expected: Role | None) -> None:
    key = ApiKey(name="ci", role=key_role, secret_hash=b"h" * 32, user_id=new_id())
    assert sign_in_role(SignIn(new_id(), key, member_role)) is expected


def test_the_orgs_own_key_needs_no_member() -> None:
    key = ApiKey(name="ci", role=Role.MEMBER, secret_hash=b"h" * 32, user_id=EMPTY_UUID)
    assert sign_in_role(SignIn(new_id(), key, None)) is Role.MEMBER


def test_a_key_shows_its_hash_neither_when_printed_nor_when_dumped() -> None:
    key = ApiKey(name="ci", role=Role.MEMBER, secret_hash=b"h" * 32)
    assert "hhhh" not in repr(key)
    assert "secret_hash" not in key.model_dump()
