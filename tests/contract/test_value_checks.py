"""A value in a response is judged by the kind of its field, whoever sends the response."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.contract.fields import Kind
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import (
    brief,
    complaint,
    credential_complaint,
    identifier_complaint,
    is_timestamp,
    members_of,
    moment,
)

KINDS: dict[str, Kind] = {
    f"{resource.name}.{field.name}": field.kind
    for resource in RESOURCES.values()
    for field in resource.fields
}
ULID = "01JGFJJZ00TGEYDG0VT5J9EZXF"
ORIGIN = "https://dev-olive-seal-harbor.dev.localhost"
REDEEM_URL = f"{ORIGIN}/.service/dev-access/redeem?stage=dev&ticket={'a' * 43}"
#: For a field of each kind: values that fit, and values that do not with the start of the complaint.
VALUES: dict[str, tuple[list[Any], list[tuple[Any, str]]]] = {
    "Deployment.commit_sha": (["", "abc"], [(1, "1 is not a string"), (None, "None is not")]),
    "UserApiKeyCreation.value": (
        ["phk_x"],
        [("", "the value must be a non-empty"), (7, "the value must be a non-empty")],
    ),
    "PoweredByFlag.enabled": (
        [True, False],
        [(1, "1 is not a boolean"), ("true", "'true' is not")],
    ),
    "Progress.next_poll_after_seconds": (
        [0, 60, 60.0],
        [(1.5, "1.5 is not an integer"), (True, "True is not an integer"), ("60", "'60' is not")],
    ),
    "DatabasePlacement.min_cu": ([0, 0.25], [(True, "True is not a number"), ("1", "'1' is not")]),
    "Operation.result": ([{}, {"a": 1}], [([], "[] is not an object")]),
    "UserApiKey.permissions": (
        [[], ["a"]],
        [({}, "{} is not an array"), ("a", "'a' is not an array"), ([1], "1 is not a string")],
    ),
    "Deployment.id": (
        [ULID],
        [(ULID[:-1], f"'{ULID[:-1]}' is not a Ulid"), (ULID.lower(), "'01j")],
    ),
    "Deployment.created_at": (
        ["2026-01-01T00:00:00Z"],
        [("2026-01-01", "'2026-01-01' is not a timestamp"), (0, "0 is not a timestamp")],
    ),
    "DnsAuthorization.zone": (
        ["shop.example", "a.io"],
        [
            ("Shop.example", "'Shop.example' is not a zone"),
            ("-a.example", "'-a.example' is not a zone"),
            ("shop.e", "'shop.e' is not a zone"),
            ("a.b", "out of bounds: the string has 3 characters"),
            (f"{'a.' * 126}io", "out of bounds: the string has 254 characters"),
        ],
    ),
    "DnsAuthorization.scopes": (
        [[], ["dns.write", "zone.read"]],
        [
            (["dns.write"] * 3, "out of bounds: the array has 3 entries"),
            (["dns.read"], "'dns.read' is not one of dns.write, zone.read"),
        ],
    ),
    "DeploymentPage.next_cursor": (["aZ0_-"], [("a b", "'a b' has characters other"), ("", "''")]),
    "DevAccessTicket.origin": (
        [ORIGIN, f"{ORIGIN}:8443"],
        [(f"{ORIGIN}/", f"'{ORIGIN}/' does not have the form"), ("http://dev-a-b-c.x", "'http")],
    ),
    "DevAccessTicket.redeem_url": (
        [REDEEM_URL],
        [
            (None, "the URL is not a string"),
            (ORIGIN, "the URL does not have the form"),
            (REDEEM_URL.replace("https", "http"), "the URL does not have the form"),
            (REDEEM_URL[:-1], "the ticket has 42 characters instead of 43"),
            (f"{REDEEM_URL}a", "the ticket has 44 characters instead of 43"),
            (f"{REDEEM_URL[:-1]}.", "the ticket has invalid characters"),
        ],
    ),
    "ProblemDetails.type": (
        ["/errors/x", "https://docs.example/errors/x", "about:blank"],
        [("a b", "'a b' is not a URI reference"), ("http://[", "'http://[' is not a URI")],
    ),
    "ProblemDetails.title": (["x"], [("", "it is empty")]),
    "ProblemDetails.status": (
        [400, 599],
        [(399, "out of bounds: 399"), (600, "out of bounds: 600")],
    ),
    "DatabasePlacement.suspend_timeout_seconds": ([-1, 0, 10**9], [(-2, "out of bounds: -2")]),
    "DatabaseCompute.environment": (["dev", "prod"], [("test", "'test' is not one of dev, prod")]),
}


@pytest.mark.parametrize("path", VALUES)
def test_a_value_that_does_not_fit_its_field_gets_a_complaint(path: str) -> None:
    kind = KINDS[path]
    valid, invalid = VALUES[path]

    assert [(value, complaint(kind, value)) for value in valid if complaint(kind, value)] == []
    for value, words in invalid:
        assert str(complaint(kind, value)).startswith(words), value


def test_there_is_a_value_for_each_kind() -> None:
    assert {KINDS[path].name for path in VALUES} == {kind.name for kind in KINDS.values()}


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:01z", 1_000),
        ("1970-01-01 00:01:00+00:00", 60_000),
        ("1970-01-01T00:00:00.25Z", 250),
        ("1970-01-01T00:00:00,0019Z", 1),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1969-12-31T22:59:00-0101", 0),
        ("1969-12-31T23:00:00-01", 0),
        ("1998-12-31T23:59:60Z", 915_148_800_000),
        ("1970-01-01T00:00Z", None),
        ("1970-01-01T00:00:00", None),
        ("1970-13-01T00:00:00Z", None),
        ("1970-01-01T24:00:00Z", None),
        (0, None),
    ],
)
def test_a_timestamp_is_read_as_milliseconds_since_1970(text: Any, ms: int | None) -> None:
    assert moment(text) == ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00Z", True),
        ("0000-02-29T00:00:00Z", True),
        ("1970-02-30T00:00:00Z", False),
        ("1970-01-01T00:00:61Z", False),
        ("1970-01-01T00:00:00", False),
        (None, False),
    ],
)
def test_a_timestamp_may_omit_its_seconds_but_not_its_offset(text: Any, expected: bool) -> None:
    assert is_timestamp(text) is expected


def test_a_long_value_is_shown_by_its_first_60_characters() -> None:
    assert brief("x" * 58) == f"'{'x' * 58}'"
    assert brief("x" * 59) == f"'{'x' * 58}…"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("note", "https://user:secret@db.example/", "note contains a credential"),
        ("note", "eyJhbGciOiJIUzI1NiJ9.e30.x", "note contains a credential"),
        ("note", "-----BEGIN RSA PRIVATE KEY-----", "note contains a credential"),
        ("value", "https://user:secret@db.example/", None),
        ("db_password", "hush", "db_password looks like a credential"),
        ("accessToken", "hush", "accessToken looks like a credential"),
        ("has_password", True, None),
        ("password", "", None),
        ("next_cursor", "api_key", None),
        ("note", "a plain text", None),
    ],
)
def test_a_member_that_looks_like_a_credential_gets_a_complaint(
    name: str, value: Any, words: str | None
) -> None:
    assert credential_complaint(name, value) == words


@pytest.mark.parametrize(
    ("name", "value", "shows_none", "is_complaint"),
    [
        ("provider_branch_id", "br-1", False, True),
        ("branch_id", "br-1", False, False),
        ("branch_id", "br-1", True, True),
        ("branch_id", ULID, True, False),
        ("deployment_id", "x", True, False),
        ("region", "eu", True, False),
        ("has_provider", True, True, False),
    ],
)
def test_a_member_that_looks_like_an_identifier_of_a_provider_gets_a_complaint(
    name: str, value: Any, shows_none: bool, is_complaint: bool
) -> None:
    words = identifier_complaint(name, value, shows_none=shows_none)

    assert words == (f"{name} looks like a provider's identifier" if is_complaint else None)


def test_the_values_of_a_document_are_listed_with_the_name_of_the_member_around_them():
    document = {"a": 1, "b": {"c": [2, {"d": None}, [3]], "e": {}}}

    assert list(members_of(document)) == [("a", 1), ("c", 2), ("d", None), ("c", 3)]
    assert list(members_of(5, "f")) == [("f", 5)]
