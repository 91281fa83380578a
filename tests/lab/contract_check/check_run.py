"""Checking a world of the test emulator: with all tokens and permissions, without real waiting."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab import contract_check
from hosting_emulator_lab.contract_check import ALLOWED, CheckOptions, Report, check


def options(emulator: HostingEmulator, **overrides: Any) -> CheckOptions:
    """Return options that check everything in a world. Waiting advances the clock of the world."""

    def token(user: str) -> str:
        return emulator.token(user)

    defaults: dict[str, Any] = {
        "base_url": emulator.base_url,
        "token": token("owner"),
        "maintainer_token": token("member"),
        "reader_token": token("reader"),
        "outsider_token": token("outsider"),
        "no_organization_token": token("no-organization"),
        "project_id": emulator.projects["shop"],
        "organization_id": emulator.organization,
        "allow": frozenset(ALLOWED),
        "origin_url": emulator.base_url.partition("/worlds/")[0],
        "pause": emulator.clock.advance,
        "patience_s": 100_000.0,
        "timeout_s": 30.0,
        "run_id": "test",
    }
    return CheckOptions(**{**defaults, **overrides})


def advance_instead_of_waiting(monkeypatch: pytest.MonkeyPatch, emulator: HostingEmulator) -> None:
    """Let the command `contract check` advance the clock of a world wherever it would wait."""

    def advance(seconds: float) -> None:
        emulator.clock.advance(seconds)

    monkeypatch.setattr(contract_check, "CheckOptions", partial(CheckOptions, pause=advance))


def checked(emulator: HostingEmulator, **overrides: Any) -> Report:
    """Check a world."""
    return check(options(emulator, **overrides))


def with_verdict(report: Report, verdict: str) -> dict[str, list[str]]:
    """Return the keys of all sentences with a verdict, with the observations."""
    return {
        sentence["key"]: sentence["seen"]
        for sentence in report["sentences"]
        if sentence["verdict"] == verdict
    }


def differing(report: Report) -> Mapping[str, list[str]]:
    """Return the sentences that differ."""
    return with_verdict(report, "differs")
