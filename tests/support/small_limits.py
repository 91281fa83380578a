"""Limits of this process that tests make small, and logs that end."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.conduct import observation
from hosting_emulator.engine import request_log
from tests.support.in_process import InProcess


def limit_logs(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let the request logs of worlds that are created later hold at most `most` exchanges."""
    monkeypatch.setattr(request_log, "CAPACITY", most)


def limit_ended_worlds(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let observations keep the states of at most `most` worlds that have ended."""
    monkeypatch.setattr(observation, "MOST_WORLDS", most)


def end_log(api: InProcess, reason: Any) -> None:
    """End a world's request log as a reset, a load or a replacement does. The state does not change."""
    api.engine.replace_world(api.world, str(reason), reason=reason)
