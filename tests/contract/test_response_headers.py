"""A header can be set if its name is a token, its value is printable, and no framing uses it."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.response_headers import header_complaint


@pytest.mark.parametrize("value", ["", " ", "a b", "~", "!"])
def test_every_printable_ascii_character_is_allowed_in_a_header(value: str) -> None:
    assert header_complaint("X-Note", value) is None


@pytest.mark.parametrize("value", ["\x1f", "a\tb", "a\r\nb", "\x7f", "ä"])
def test_a_header_with_another_character_is_refused(value: str) -> None:
    assert header_complaint("X-Note", value) is not None


@pytest.mark.parametrize("name", ["", "X Note", "X-Note:", "Content-Length", "DATE", "connection"])
def test_a_header_is_refused_if_its_name_is_not_a_token_or_belongs_to_the_framing(
    name: str,
) -> None:
    assert header_complaint(name, "a") is not None
