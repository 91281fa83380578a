"""The sentences about what a client depends on, which all reports share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hosting_emulator.sdk import JsonObject
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import ClientCause
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
_WORDING_CAUSE = "depends-on-wording"
#: The sentence about each text of a problem, and its source, by the name of the field.
_WORDING_QUOTES = {
    "title": (
        'The "title" member is a JSON string containing a short, human-readable summary of the '
        "problem type.",
        "RFC 9457, section 3.1.3",
    ),
    "detail": (
        'Consumers SHOULD NOT parse the "detail" member for information',
        "RFC 9457, section 3.1.4",
    ),
    "suggested_action": (
        "suggested_action | string | yes | minimum length 1",
        "contract, section Errors",
    ),
}


def dependency_lines(dependencies: ClientDependencies) -> list[str]:
    """Return sentences about what a client depends on. The list is empty if no trial was planned."""
    untried = dependencies.untried_parts
    count = count_text(len(untried), "part")
    if untried and not dependencies.parts:
        return [f"No part of a response was altered: there was no time for {count}."]
    lines = []
    for effect, verb in _VERBS.items():
        parts = dependencies.with_effect(effect)
        if parts:
            lines.append(f"{verb} {_grouped(part.trial for part in parts)}.")
    if dependencies.not_promised:
        promises = _grouped((part.trial for part in dependencies.not_promised), name_presence=True)
        lines.append(f"Depends on something the contract does not promise: {promises}.")
    if untried:
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


def with_wording_fields(
    causes: Iterable[ClientCause], dependencies: ClientDependencies
) -> list[ClientCause]:
    """Return causes, where a dependence on the wording of problems names the fields that matter.

    The fields are known only if trials altered them.
    """
    names = [part.trial.part_name for part in dependencies.with_effect("depends") if _is_text(part)]
    fields = [field for field in _WORDING_QUOTES if field in names]
    return [_with_fields(cause, fields) for cause in causes]


def _is_text(part: PartEffect) -> bool:
    """Return whether a part is a text of a problem."""
    trial = part.trial
    is_problem = trial.status_class in ("4xx", "5xx")
    return is_problem and trial.change == "remove" and trial.part_name in _WORDING_QUOTES


def _with_fields(cause: ClientCause, fields: Sequence[str]) -> ClientCause:
    if cause.id != _WORDING_CAUSE or not fields:
        return cause
    names = " and ".join(f"`{field}`" for field in fields)
    because, place = _WORDING_QUOTES[fields[0]]
    title = f"It depends on the wording of a problem: it reads {names}."
    return replace(cause, text=replace(cause.text, title=title, because=because, place=place))


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
