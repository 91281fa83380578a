"""The id of the build under test, and a function that replaces it."""

from __future__ import annotations

import pytest

from hosting_emulator import build_id as build


def build_id() -> str:
    """Return the id of the build under test."""
    return build.BUILD_ID


def full_version() -> str:
    """Return the version under test with its build, as stored files and errors name it."""
    return build.FULL_VERSION


def pretend_to_be_another_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the build id of this process, so that it differs from that of running emulators."""
    monkeypatch.setattr(build, "BUILD_ID", "0123456789ab")
