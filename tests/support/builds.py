"""The id of the build under test, and how a test becomes another build."""

from __future__ import annotations

import pytest

from hosting_emulator import build_id as build


def build_id() -> str:
    """Return the id of the build under test."""
    return build.BUILD_ID


def pretend_to_be_another_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be of another build than the emulators that already run."""
    monkeypatch.setattr(build, "BUILD_ID", "0123456789ab")
