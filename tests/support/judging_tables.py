"""The words of `contract check`, which pages of the documentation must repeat."""

from __future__ import annotations

from hosting_emulator_lab.contract_check import ALLOWED


def check_permissions() -> set[str]:
    """Return the words that `contract check --allow` accepts."""
    return set(ALLOWED)
