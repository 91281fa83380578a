"""The faults that exploring tries: their words, and what each does to one request.

A word is a kind of fault (`timeout`), or `abort:CODE` for a problem's code, `gateway_error:STATUS`
for a proxy's status. What a fault does is the same in every run, so that a report repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.words import nearest
from hosting_emulator.sdk import JsonObject

#: Every kind of fault, the most telling first: where runs are bounded, these are left out last.
KINDS = (
    "timeout",
    "abort",
    "rate_limit",
    "connection_reset",
    "gateway_error",
    "truncate",
    "empty_response",
    "malformed_response",
    "latency",
    "slow_response",
)
#: How late a delayed answer is, and how long a slow one takes, in real milliseconds.
LATE_MS = 1000
#: What a refused client is asked to wait, in seconds.
RETRY_AFTER_S = 1
_GATEWAY_STATUSES = ("500", "502", "503", "504")
_UNCERTAIN = "api_key_creation_uncertain"
_WORDS = (*KINDS, *(f"abort:{code}" for code in PROBLEMS), "abort:*")


def kind_of(fault: str) -> str:
    """Return the kind of a fault's word."""
    return fault.partition(":")[0]


def check_fault(word: str) -> str:
    """Return a fault's word. Raises ValueError, naming the nearest."""
    kind, _, detail = word.partition(":")
    known = word in _WORDS or (kind == "gateway_error" and detail in _GATEWAY_STATUSES)
    if not known:
        hint = nearest(word, _WORDS) or f"; there are {', '.join(KINDS)} and abort:CODE"
        raise ValueError(f"no fault is named {word!r}{hint}")
    return word


def faults_for(call: str, wanted: Iterable[str]) -> list[str]:
    """Return the faults worth trying on a call, each once, the most telling first.

    `abort` stands for the refusals that a client must live with at any time: service_unavailable,
    rate_limited, and for the creation of a key its own uncertainty. `abort:*` stands for all codes.
    """
    found = [word for each in wanted for word in _meant(call, each)]
    return sorted(dict.fromkeys(found), key=lambda word: KINDS.index(kind_of(word)))


def _meant(call: str, word: str) -> Sequence[str]:
    if word == "abort:*":
        return [f"abort:{code}" for code in PROBLEMS]
    if word != "abort":
        return [word]
    codes = ["service_unavailable", "rate_limited"]
    if call == "create_user_api_key":
        codes.append(_UNCERTAIN)
    return [f"abort:{code}" for code in codes]


def effect_of(fault: str, body_bytes: int) -> JsonObject:
    """Return a fault's effect as it is armed, for an answer whose body has so many bytes."""
    kind, _, detail = fault.partition(":")
    options: JsonObject = {}
    if kind == "abort":
        options = {"code": detail or "service_unavailable"}
        if options["code"] == "rate_limited":
            options["retry_after_seconds"] = RETRY_AFTER_S
    elif kind == "gateway_error":
        options = {"status": int(detail or 502)}
    elif kind == "latency":
        options = {"delay_ms": LATE_MS}
    elif kind == "truncate":
        options = {"bytes": body_bytes // 2}
    elif kind == "slow_response":
        options = {"bytes_per_second": max(1, min(1_000_000, body_bytes * 1000 // LATE_MS))}
    elif kind == "rate_limit":
        options = {"limit": 0, "window": f"{RETRY_AFTER_S}s"}
    return {kind: options}
