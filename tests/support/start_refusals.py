"""The checks of settings before a start, and what they find at a port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator import start_checks
from hosting_emulator.port_holders import Program
from hosting_emulator.running_emulators import EmulatorRecord
from hosting_emulator.settings import Settings, StartError

CHECKS: dict[str, Callable[[Settings], object]] = {
    "beginning": start_checks.check_beginning,
    "origins": start_checks.check_origins,
    "public URL": start_checks.public_url,
    "control token": start_checks.control_token,
}


def check(name: str, **settings: Any) -> Any:
    """Return what a check returns for these settings, or the message of the StartError that it raises."""
    try:
        return CHECKS[name](Settings(**settings))
    except StartError as error:
        return str(error)


def set_port_holders(
    monkeypatch: pytest.MonkeyPatch, emulator: EmulatorRecord | None, program: Program | None
) -> None:
    """Let an emulator or another program listen on each port."""
    monkeypatch.setattr(start_checks, "emulator_at", lambda port: emulator)
    monkeypatch.setattr(start_checks, "program_at", lambda port: program)


def listen_error(host: str, port: int, error: OSError, option: str = "--port") -> str:
    """Return the message of a start that cannot listen on a port."""
    return str(start_checks.cannot_listen(host, port, error, option))
