"""Formats faults and outcomes as text for reports and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.messages import FaultState, OutcomeState

#: The fields of a fault that are not its effect: request filters and conditions.
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
#: The members that the control API adds to what the user wrote.
_STATE = (*FaultState.__struct_fields__, *OutcomeState.__struct_fields__)


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
    for member, options in fault.items():
        # Treat any other mapping as the effect, so that fault kinds from a newer emulator are shown
        # too. Other members from a newer emulator can be of any type, so they are not shown.
        is_declared = member in (*_MATCHES, *_CONDITIONS, *_STATE)
        if isinstance(options, Mapping) and not is_declared:
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
