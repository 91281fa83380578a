"""Host names in headers and origins, and which of them refer to this machine."""

from __future__ import annotations

import pytest

from hosting_emulator.http.addresses import (
    RESERVED,
    host_name,
    host_of_origin,
    is_loopback,
    is_this_machine,
)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:4620", "localhost"),
        ("app.test.:80", "app.test"),
        ("a_b-c.test", "a_b-c.test"),
        ("127.0.0.1:65535", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[FD00::1]:80", "fd00::1"),
        ("a" * 255, "a" * 255),
        ("a" * 256, ""),
        ("", ""),
        (":80", ""),
        ("a:123456", ""),
        ("a:x", ""),
        ("a b", ""),
        ("a/b", ""),
        ("::1", ""),
        ("[::1", ""),
        ("[:]", ""),
        ("[g::1]", ""),
    ],
)
def test_a_host_header_is_a_name_or_an_address_with_an_optional_port(header: str, name: str):
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("http://app.test:3000", "app.test"),
        ("https://[::1]:80", "::1"),
        ("ftp://app.test", ""),
        ("http://app.test/", ""),
        ("http://a@b", ""),
        ("http://a?b", ""),
        ("http://", ""),
        ("null", ""),
    ],
)
def test_an_origin_is_a_scheme_and_a_host(origin: str, name: str):
    assert host_of_origin(origin) == name


@pytest.mark.parametrize(
    ("name", "loopback", "this_machine"),
    [
        ("127.0.0.1", True, True),
        ("127.255.255.254", True, True),
        ("::1", True, True),
        ("::ffff:127.0.0.1", True, True),
        ("::ffff:10.0.0.1", False, False),
        ("10.0.0.1", False, False),
        ("0.0.0.0", False, False),
        ("localhost", False, True),
        ("app.localhost", False, True),
        ("applocalhost", False, False),
        ("localhost.test", False, False),
        ("", False, False),
    ],
)
def test_only_loopback_addresses_and_localhost_are_this_machine(
    name: str, loopback: bool, this_machine: bool
):
    assert is_loopback(name) is loopback
    assert is_this_machine(name) is this_machine


def test_no_address_is_no_loopback_address():
    assert not is_loopback(None)


def test_names_that_nobody_can_register_have_these_endings():
    assert set(RESERVED) == {
        ".localhost",
        ".internal",
        ".test",
        ".example",
        ".invalid",
        ".home.arpa",
    }
