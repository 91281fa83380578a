"""A finding: what a check saw and, where that matters, what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's verdict. `seen` is one sentence; `advice` says what to do, if anything is."""

    check: str
    verdict: Literal["ok", "note", "problem"]
    seen: str
    advice: str | None = None


def ok(check: str, seen: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", seen)


def note(check: str, seen: str, advice: str | None = None) -> Finding:
    """It works, but somebody may stumble over it."""
    return Finding(check, "note", seen, advice)


def problem(check: str, seen: str, advice: str) -> Finding:
    """It does not work, or is not safe, until somebody does something."""
    return Finding(check, "problem", seen, advice)
