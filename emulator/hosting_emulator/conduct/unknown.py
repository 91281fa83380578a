"""What an answer holds that the contract, and our defaults where it is silent, do not name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.resources import RESOURCES


def unknown_in(resource: str, document: Any) -> list[str]:
    """Return what a document of a resource holds that is not known, each in a few words."""
    return list(_unknown(resource, document, ""))


def _unknown(resource: str, document: Any, at: str) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _unknown(resource, item, at)
    if not isinstance(document, dict):
        return
    known = {field.name: field for field in RESOURCES[resource].fields}
    for name, value in document.items():
        place, field = f"{at}{name}", known.get(name)
        if field is None:
            yield f"the unknown field {place}"
            continue
        words = getattr(DEFAULTS, field.assumption, None)
        if isinstance(words, tuple) and isinstance(value, str) and value not in words:
            yield f"the unknown {place} {value!r}"
        if field.kind.part:
            yield from _unknown(field.kind.part, value, f"{place}.")
