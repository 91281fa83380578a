"""Formats faults and outcomes as text for reports and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.value_texts import value_text

#: The fields of a fault that are not its effect: request filters, conditions and state.
_MATCHES = (
    "call",
    "project",
    "organization",
    "principal",
    "method",
    "path",
    "header",
    "query",
    "body",
    "credentials",
    "connection",
)
_CONDITIONS = (
    "times",
    "skip_first",
    "every",
    "probability",
    "from",
    "until",
    "pauses",
    "while",
    "optional",
)
_COUNTS = (
    "id",
    "order",
    "after_commit",
    "armed_at",
    "considered",
    "seen",
    "hits",
    "spent",
    "unused",
    "note",
)


@dataclass(frozen=True, slots=True)
class FaultWords:
    """A fault as text: its effect with its options, the requests that it matches, and its conditions."""

    effect: str
    matches: str
    conditions: str


def fault_words(fault: Mapping[str, Any]) -> FaultWords:
    """Format a fault as text.

    For example, the effect is `abort code=rate_limited`, the match is `call=list_deployments`, and
    the condition is `times=2`.
    """
    effects = []
    for member in fault:
        # Treat any other member as the effect, so that fault kinds from a newer emulator are shown
        # too.
        if member not in (*_MATCHES, *_CONDITIONS, *_COUNTS):
            options = fault[member]
            words = [
                f"{name}={value_text(value)}"
                for name, value in options.items()
                if value is not None
            ]
            effects.append(" ".join([member, *words]))
    return FaultWords(
        effect="; ".join(effects),
        matches=" ".join(_pairs(fault, _MATCHES)),
        conditions=" ".join(_pairs(fault, _CONDITIONS)),
    )


def commit_text(fault: Mapping[str, Any]) -> str | None:
    """Say whether a fault acts before or after the commit.

    Returns None if the fault does neither.
    """
    after_commit = fault.get("after_commit")
    if after_commit is None:
        return None
    return "after the commit" if after_commit else "before the commit"


def unused_text(entry: Mapping[str, Any]) -> str:
    """Say in a sentence why a fault or outcome has never acted."""
    return f"{entry['id']} never acted: {entry['unused']}."


def short_text(value: Any) -> str:
    """Format the value of an option or assumption as short text.

    The parts of a mapping or list are separated by commas.
    """
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{value_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(value_text, value))
    return value_text(value)


def _pairs(fields: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    values = {name: fields.get(name) for name in names}
    return [f"{name}={short_text(value)}" for name, value in values.items() if value is not None]
