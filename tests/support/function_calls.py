"""Counts calls of Python functions, as a measure of work that does not depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_calls(work: Callable[[], Any]) -> int:
    """Return how many calls of Python functions happen while `work` runs."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
