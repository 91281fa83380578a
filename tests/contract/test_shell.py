"""Messages suggest commands that select the right server and world, with no needless option."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.shell import command_line


@pytest.mark.parametrize(
    ("base_url", "world", "line"),
    [
        ("http://127.0.0.1:4620", "default", "hosting-emulator status"),
        ("http://localhost:4620", "default", "hosting-emulator status"),
        ("http://localhost:4620", "a", "hosting-emulator status --world a"),
        (
            "http://127.0.0.1:4621",
            "default",
            "hosting-emulator status --url http://127.0.0.1:4621",
        ),
        (
            "http://[::1]:4620",
            "a",
            "hosting-emulator status --world a --url 'http://[::1]:4620'",
        ),
    ],
)
def test_a_suggested_command_has_the_options_that_it_needs(
    base_url: str, world: str, line: str
) -> None:
    assert command_line("status", base_url, world) == line
