"""The sentences about what a client depends on, which all reports share."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.sdk import JsonObject
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.client_behavior import Effect
from hosting_emulator_lab.judge.dependencies import ClientDependencies, PartEffect
from hosting_emulator_lab.judge.variation_causes import VARIATION_CAUSES

HEADING = "What the client depends on"
#: The verb of the sentence about the parts with this effect.
_VERBS: dict[Effect, str] = {
    "depends": "Depends on",
    "shows": "Shows",
    "ignores": "Ignores",
}


def dependency_lines(dependencies: ClientDependencies) -> list[str]:
    """Return sentences about what a client depends on. The list is empty if there were no trials."""
    lines = []
    for effect, verb in _VERBS.items():
        parts = dependencies.with_effect(effect)
        if parts:
            lines.append(f"{verb} {_grouped(part.trial for part in parts)}.")
    if dependencies.not_promised:
        promises = _grouped((part.trial for part in dependencies.not_promised), name_presence=True)
        lines.append(f"Depends on something the contract does not promise: {promises}.")
    untried = dependencies.untried_parts
    if untried:
        count = count_text(len(untried), "part")
        lines.append(f"Not tried, {count}: {_grouped(untried)}.")
    return lines


def dependency_document(dependencies: ClientDependencies) -> JsonObject:
    """Return what a client depends on as a JSON document."""
    document: JsonObject = {
        "tried": len(dependencies.parts),
        "planned": len(dependencies.parts) + len(dependencies.untried_parts),
    }
    for effect in _VERBS:
        document[effect] = [_row(part) for part in dependencies.with_effect(effect)]
    document["not_promised"] = [str(part.trial) for part in dependencies.not_promised]
    document["not_tried"] = [str(trial) for trial in dependencies.not_tried]
    return document


def cause_of_alteration(trial: AlteredTrial) -> CauseText:
    """Return the cause of a client that fails when the contract allows an alteration.

    Varied responses may show the same mistake, which then counts as a single cause.
    """
    return VARIATION_CAUSES[_cause_id(trial)].text


def _cause_id(trial: AlteredTrial) -> str:
    if trial.change == "reorder":
        return "depends-on-order"
    if trial.change == "header":
        return "depends-on-response-headers"
    if trial.change == "status":
        is_success = trial.status_class == "2xx"
        return "expects-one-success-status" if is_success else "decides-by-problem-status"
    if trial.part.startswith("/result"):
        return "depends-on-result"
    if trial.status_class != "2xx":
        return "needs-optional-problem-field"
    if trial.part.startswith(("/progress", "/reconciliation")):
        return "needs-optional-field"
    return "needs-unpromised-field"


def _grouped(trials: Iterable[AlteredTrial], *, name_presence: bool = False) -> str:
    """Return the names of parts, grouped by call, such as `id`, `state` (get_operation)."""
    names_by_place: dict[str, list[str]] = {}
    for trial in trials:
        is_field = trial.change in ("remove", "set")
        name = f"`{trial.part_name}`" if is_field else trial.part_name
        if name_presence and is_field:
            name = f"the presence of {name}"
        names_by_place.setdefault(trial.place, []).append(name)
    return "; ".join(f"{', '.join(names)} ({place})" for place, names in names_by_place.items())


def _row(part: PartEffect) -> JsonObject:
    trial = part.trial
    return {
        "part": trial.part_name,
        "call": trial.call,
        "status_class": trial.status_class,
        "allowed_by_contract": part.is_allowed,
        "trial": str(trial),
    }
