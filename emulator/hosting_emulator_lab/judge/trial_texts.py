"""Describes trials in words."""

from __future__ import annotations

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial
from hosting_emulator_lab.judge.alteration_trials import AlterationChange, AlteredTrial
from hosting_emulator_lab.judge.fault_points import FaultPoint, Phase
from hosting_emulator_lab.judge.trials import CleanTrial, FaultTrial, PhasesTrial, Trial

#: The effects of wire faults on a request, by kind of fault. `{request}` stands for the request's
#: name, and `{detail}` for the second part of the fault's word.
_KINDS = {
    "timeout": "no response to {request} arrives",
    "connection_reset": "the connection of {request} breaks before a response arrives",
    "empty_response": "the connection of {request} closes without a response",
    "gateway_error": "a proxy responds to {request} with an error page",
    "truncate": "the response to {request} is cut off",
    "malformed_response": "the response to {request} is not JSON",
    "latency": "the response to {request} is late",
    "stalled_response": "the response to {request} stops in the middle of its body",
    "slow_response": "the response to {request} arrives slowly",
    "abort": "{request} gets {detail}",
    "rate_limit": "{request} gets rate_limited with Retry-After",
}
#: Descriptions of an altered part of responses, by kind of change.
_ALTERATIONS: dict[AlterationChange, str] = {
    "remove": "the responses to {place} have no {part}",
    "set": "{part} has another value in the responses to {place}",
    "reorder": "{part} is reversed in the responses to {place}",
    "header": "{part} is missing in the responses to {place}",
    "status": "{part} of the responses to {place} is replaced with another of the same class",
}
#: What becomes of a change whose response meets a wire fault, by phase.
_EFFECTS_ON_CHANGES: dict[Phase, str] = {
    "before_commit": "and the request has no effect",
    "after_commit": "although the request has taken effect",
}
#: The kinds of faults that act on the response of a change, so that it takes effect in both phases.
_AFTER_EFFECT = ("slow_response", "stalled_response")


def trial_description(trial: Trial) -> str:
    """Return a clause that says what happens in a trial, such as `no response to … arrives`."""
    if isinstance(trial, FaultTrial):
        return _point_description(trial.point)
    if isinstance(trial, CleanTrial):
        return _clean_description(trial)
    if isinstance(trial, PhasesTrial):
        return "nothing goes wrong, and operations are polled in each of their phases"
    if isinstance(trial, AlteredTrial):
        return _altered_description(trial)
    if isinstance(trial, AcceptedTrial):
        return f"{trial.request} is accepted, although the service would refuse it"
    if not trial.points:
        return "responses vary wherever the contract leaves a choice"
    noun = "the variation point" if len(trial.points) == 1 else "the variation points"
    return f"responses vary at {noun} {' and '.join(trial.points)}"


def _point_description(point: FaultPoint) -> str:
    if point.lasting is not None:
        return f"{point.request} {point.lasting.description}"
    kind, _, detail = point.fault.partition(":")
    text = _KINDS[kind].format(request=point.request, detail=detail)
    effect = _effect_on_change(point, kind)
    return f"{text}, {effect}" if effect else text


def _effect_on_change(point: FaultPoint, kind: str) -> str:
    """Return a clause that says whether the request takes effect. It is empty for a read."""
    if ALL_CALLS[point.call].method == "GET":
        return ""
    if kind == "latency" and point.phase == "before_commit":
        return "because the request takes effect late"
    phase: Phase = "after_commit" if kind in _AFTER_EFFECT else point.phase
    return _EFFECTS_ON_CHANGES[phase]


def _altered_description(trial: AlteredTrial) -> str:
    return _ALTERATIONS[trial.change].format(part=trial.part_name, place=trial.place)


def _clean_description(trial: CleanTrial) -> str:
    if trial.kind == "scaled":
        return "nothing goes wrong, and time passes as on a wall clock"
    if trial.kind == "base-path":
        return "nothing goes wrong, and the base URL has a path"
    return "nothing goes wrong"
