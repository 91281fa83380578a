"""What an answer holds that the contract, and our defaults where it is silent, do not name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hosting_emulator.contract.assumptions import DEFAULTS

#: Open sets of words, by model and field.
_WORDS = {
    ("Progress", "phase"): DEFAULTS.progress_phases,
    ("Reconciliation", "state"): DEFAULTS.reconciliation_states,
    ("Deployment", "status"): DEFAULTS.deployment_statuses,
}
#: Which model a field holds.
_PARTS = {
    ("Operation", "progress"): "Progress",
    ("Operation", "reconciliation"): "Reconciliation",
    ("Operation", "error"): "OperationError",
    ("DeploymentPage", "items"): "Deployment",
}


def unknown_in(model: str, document: Any) -> list[str]:
    """Return what a document of a model holds that is not known, each in a few words."""
    return list(_unknown(model, document, ""))


def _unknown(model: str, document: Any, at: str) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _unknown(model, item, at)
    if not isinstance(document, dict):
        return
    known = _fields()[model]
    for name, value in document.items():
        place = f"{at}{name}"
        if name not in known:
            yield f"the unknown field {place}"
        words = _WORDS.get((model, name))
        if words is not None and isinstance(value, str) and value not in words:
            yield f"the unknown {place} {value!r}"
        part = _PARTS.get((model, name))
        if part is not None:
            yield from _unknown(part, value, f"{place}.")


@lru_cache(maxsize=1)
def _fields() -> dict[str, frozenset[str]]:
    # Imported here: pydantic is loaded only where something was left unfinished.
    from hosting_emulator.contract import models

    names = {model for model, _ in (*_WORDS, *_PARTS)} | {*_PARTS.values()}
    return {name: frozenset(getattr(models, name).model_fields) for name in names}
