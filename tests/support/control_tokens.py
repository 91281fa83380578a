"""Whether an emulator requires a control token, according to its settings."""

from __future__ import annotations

from typing import Any

from hosting_emulator.settings import Settings
from hosting_emulator.start_checks import control_token, is_reached_from_outside


def control_token_for(**settings: Any) -> str | None:
    """Return the control token of an emulator with these settings, or None if it requires none."""
    return control_token(Settings(**settings))


def is_reachable_from_outside(public_url: str | None) -> bool:
    """Return whether other machines can reach an emulator at its public address."""
    return is_reached_from_outside(public_url)
