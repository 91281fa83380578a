"""Which parts of a clean run's responses can be altered, and how.

A field is removed, because a client that reads it then sees a difference. A boolean is inverted as
well, because a client may read its value without needing its presence. For the same reason, an
authorization is shown as revoked. If the contract allows an alteration of the part, such an
alteration is made. Otherwise, the alteration breaks the contract, and only shows what the client
reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.allowed_changes import SentResponse
from hosting_emulator.contract.alterations import Alteration, Altered, Unaltered, alter_response
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.json_text import write_pointer
from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.client_requests import NumberedRequest

#: The headers that carry the message itself, which no alteration can change.
_TRANSPORT_HEADERS = frozenset(
    {"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"}
)
#: Other statuses of each class. The first of them that differs from the true status replaces it.
_STATUSES = {
    "2xx": (200, 201, 202),
    "4xx": (400, 422, 403, 409),
    "5xx": (500, 503, 502),
}
#: The value that replaces each value of a field, by the call and the pointer of the field.
_REPLACEMENTS = {("get_dns_authorization", "/status"): {"authorized": "revoked"}}


@dataclass(frozen=True, slots=True)
class PlannedAlteration:
    """How a trial alters responses.

    `fault` is the fault to arm. `is_allowed` tells whether the contract allows the alteration.
    """

    fault: JsonObject
    is_allowed: bool


def plan_alterations(requests: Sequence[NumberedRequest]) -> tuple[AlteredTrial, ...]:
    """Return the trials that alter each part of the responses to these requests once.

    The same part of several responses to a call counts as one part. The same field of several items of
    a list counts as one part, too. Orders come first, then fields, statuses and headers.
    """
    trials: dict[AlteredTrial, None] = {}
    for request in requests:
        status_class = _status_class(request)
        if status_class not in _STATUSES:
            continue
        for pointer, value in _fields(request.known_response, ()):
            trials[AlteredTrial(request.call, status_class, "remove", pointer)] = None
            if _replacement(request.call, pointer, value) is not None:
                trials[AlteredTrial(request.call, status_class, "set", pointer)] = None
            if isinstance(value, list) and _has_order(value):
                trials[AlteredTrial(request.call, status_class, "reorder", pointer)] = None
        trials[AlteredTrial(request.call, status_class, "status")] = None
        for name, _ in _alterable_headers(request):
            trials[AlteredTrial(request.call, status_class, "header", name)] = None
    order = ("reorder", "remove", "set", "status", "header")
    return tuple(sorted(trials, key=lambda trial: order.index(trial.change)))


def alteration_of(trial: AlteredTrial, requests: Iterable[NumberedRequest]) -> PlannedAlteration:
    """Return how a trial alters the responses to a client that sends these requests.

    Raises ValueError if no response has the part.
    """
    matches = [
        request
        for request in requests
        if request.call == trial.call and _status_class(request) == trial.status_class
    ]
    if not matches:
        raise ValueError(
            f"the clean run has no response to {trial.call} with a status of {trial.status_class}"
        )
    can_act = False
    for options in _candidates(trial, matches):
        results = [_alter(options, request) for request in matches]
        can_act = can_act or any(_could_act(result) for result in results)
        if _is_allowed(results):
            return PlannedAlteration(_fault(trial, options, matches), is_allowed=True)
    if not can_act:
        raise ValueError(f"no response to {trial.call} in the clean run has {trial.part_name}")
    options = {**_candidates(trial, matches)[0], "breaking": True}
    return PlannedAlteration(_fault(trial, options, matches), is_allowed=False)


def _status_class(request: NumberedRequest) -> str:
    return f"{request.exchange.status // 100}xx"


def _fields(value: Any, tokens: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the pointer and the value of each field in a body. `*` stands for the items of a list."""
    if isinstance(value, dict):
        for name, member in value.items():
            inner = (*tokens, name)
            yield write_pointer(inner), member
            yield from _fields(member, inner)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, (*tokens, "*"))


def _has_order(items: Sequence[Any]) -> bool:
    """Return whether a list differs from the same list in reverse."""
    return list(items) != list(reversed(items))


def _alterable_headers(request: NumberedRequest) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in request.response_headers
        if name.lower() not in _TRANSPORT_HEADERS
    ]


def _candidates(trial: AlteredTrial, requests: Sequence[NumberedRequest]) -> list[JsonObject]:
    """Return the options of the alterations that suit a trial, best first."""
    if trial.change == "status":
        status = requests[0].exchange.status
        others = [other for other in _STATUSES.get(trial.status_class, ()) if other != status]
        return [{"status": other} for other in others]
    if trial.change == "header":
        return [{"headers": {trial.part: None}}]
    if trial.change == "reorder":
        return [{"reorder": trial.part}]
    if trial.change == "remove":
        return [{"remove": trial.part}]
    return [{"set": {trial.part: value}} for value in _replacements(trial, requests)][:1]


def _replacements(trial: AlteredTrial, requests: Iterable[NumberedRequest]) -> Iterator[bool | str]:
    """Yield the values that can replace those of a trial's field."""
    for request in requests:
        for pointer, value in _fields(request.known_response, ()):
            if pointer != trial.part:
                continue
            replacement = _replacement(trial.call, pointer, value)
            if replacement is not None:
                yield replacement


def _replacement(call: str, pointer: str, value: Any) -> bool | str | None:
    """Return another value for a field, or None if only the absence of the field is tried."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return _REPLACEMENTS.get((call, pointer), {}).get(value)
    return None


def _alter(options: JsonObject, request: NumberedRequest) -> Altered | Unaltered:
    """Return a response of the clean run after an alteration within the contract."""
    headers = tuple(_alterable_headers(request))
    body = json.dumps(request.known_response).encode()
    response = SentResponse(request.exchange.status, headers, body)
    spec = ALL_CALLS[request.call]
    return alter_response(
        Alteration(**options), spec, response, lambda _: 0, replayed=bool(request.exchange.replayed)
    )


def _could_act(result: Altered | Unaltered) -> bool:
    """Return whether an alteration acts, either within the contract or by breaking it."""
    return isinstance(result, Altered) or result.forbidden is not None


def _is_allowed(results: Iterable[Altered | Unaltered]) -> bool:
    """Return whether the contract allows an alteration of each response in which it could act."""
    results = [result for result in results if _could_act(result)]
    return bool(results) and all(isinstance(result, Altered) for result in results)


def _fault(
    trial: AlteredTrial, options: JsonObject, requests: Sequence[NumberedRequest]
) -> JsonObject:
    """Return the fault that alters all successful responses, or the first problem."""
    fault: JsonObject = {"alter": options, "call": trial.call}
    if trial.status_class != "2xx":
        fault |= {"skip_first": requests[0].number - 1, "times": 1}
    return fault
