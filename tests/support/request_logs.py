"""The request log of a world in this process, in the form that the control API uses."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.engine.explanations.trail import Explanations
from tests.support.in_process import InProcess


def logged_exchanges(api: InProcess) -> list[dict[str, Any]]:
    """Return all exchanges with headers, bodies and explanations, oldest first."""
    log = api.engine.log
    explanations = Explanations(log)
    exchanges = [explanations.whole(api.world, entry) for entry in log.after(0)]
    documents: list[dict[str, Any]] = msgspec.to_builtins(exchanges)
    return documents


def varied_counts(api: InProcess) -> dict[str, int]:
    """Return how many responses varied at each point."""
    return dict(api.engine.log.varied)
