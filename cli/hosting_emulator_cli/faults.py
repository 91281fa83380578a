"""How an armed fault is told in words, wherever one is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_MATCHES = ("call", "project", "principal", "method", "path", "header")
_CONDITIONS = ("times", "skip_first", "every", "probability", "from", "until")
_KNOWN = frozenset(
    (*_MATCHES, *_CONDITIONS, "id", "order", "phase", "armed_at", "seen", "hits", "spent")
)


def effect_of(fault: Mapping[str, Any]) -> str:
    """Write a fault's effect with its options: `abort code=rate_limited`."""
    # Whatever is nothing else is the effect: a kind that this command does not know is shown too.
    return "; ".join(
        " ".join([kind, *_pairs(options.items())])
        for kind, options in fault.items()
        if kind not in _KNOWN
    )


def match_words(fault: Mapping[str, Any]) -> str:
    """Write what a fault matches, nothing for everything."""
    return " ".join(_pairs((name, fault.get(name)) for name in _MATCHES))


def condition_words(fault: Mapping[str, Any]) -> str:
    """Write when a fault acts, nothing for always."""
    return " ".join(_pairs((name, fault.get(name)) for name in _CONDITIONS))


def fault_words(fault: Mapping[str, Any]) -> str:
    """Write a whole fault in one line."""
    parts = (effect_of(fault), match_words(fault), condition_words(fault), fault["phase"])
    return ", ".join(part for part in parts if part)


def _pairs(fields: Iterable[tuple[str, Any]]) -> list[str]:
    return [
        f"{name}={_inner(value) if isinstance(value, Mapping) else value}"
        for name, value in fields
        if value is not None
    ]


def _inner(value: Mapping[str, Any]) -> str:
    return ",".join(f"{name}:{item}" for name, item in value.items())
