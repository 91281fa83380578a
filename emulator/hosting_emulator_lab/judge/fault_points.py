"""Fault points: a request of a run, a fault that meets it, and the phase in which the fault acts.

As text, a point reads `create_user_api_key#1/timeout/after_commit`, where `#1` means the first
request to this call. The fault's word is a kind such as `timeout`, `abort:CODE` for a problem's
code, or `gateway_error:STATUS` for a proxy's status. In the `lasting` phase, the word names a
lasting effect that begins with this request, such as `fail`. A fault does the same in every run, so
the runs of a report can be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.suggestions import nearest, unknown
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.lasting_effects import (
    LASTING_EFFECTS,
    LastingEffect,
    lasting_effect,
)

Phase: TypeAlias = Literal["before_commit", "after_commit", "lasting"]
#: The phases of a wire fault.
PHASES: tuple[Phase, ...] = ("before_commit", "after_commit")
#: The kinds of wire faults that are worth trying. The most revealing kinds come first, because a
#: limit on the number of runs leaves out the last kinds.
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
#: The kinds of wire faults that only `judge` tries by default. Each of them makes a client wait for
#: its whole time limit.
WAITING_KINDS = ("stalled_response",)
#: The lasting effects that only `judge` tries by default, because each of them makes a client wait.
WAITING_OUTCOMES = ("long_limit",)
#: The words for the other lasting effects. `refused` stands for the problems that a call may return
#: and for which a retry cannot help.
OUTCOMES = (*[word for word in LASTING_EFFECTS if word not in WAITING_OUTCOMES], "refused")
#: The refusal of a change whose key belongs to another request. It is the only conflict (409) that every
#: call with an Idempotency-Key can return, and no state of the project explains it.
KEY_REUSED = "abort:idempotency_key_reused"
#: The delay of a late response in real milliseconds, for a client that waits this long.
LATE_MS = 1000
_ORDER = (*KINDS, *WAITING_KINDS, *LASTING_EFFECTS)
#: All words for faults. `wire` stands for all kinds, and `abort:*` for all codes.
_WORDS = (
    *KINDS,
    *WAITING_KINDS,
    *OUTCOMES,
    *WAITING_OUTCOMES,
    "wire",
    *[f"abort:{code}" for code in PROBLEMS],
    "abort:*",
    *[f"gateway_error:{status}" for status in (500, 502, 503, 504)],
)
_TEXT = re.compile(
    r"(?P<call>[^#/]+)#(?P<number>[1-9][0-9]{0,5})/(?P<fault>[^/]+)/(?P<phase>[^/]+)"
)


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """The request with this `number` (from 1) to a call meets a fault in a phase.

    `fault` is a word that the `--faults` option accepts.
    """

    call: str
    number: int
    fault: str
    phase: Phase

    @property
    def request(self) -> str:
        """The request's name, such as `create_user_api_key#1`."""
        return f"{self.call}#{self.number}"

    @property
    def lasting(self) -> LastingEffect | None:
        """The lasting effect from the request on, or None for a wire fault."""
        return lasting_effect(self.fault)

    def __str__(self) -> str:
        return f"{self.request}/{self.fault}/{self.phase}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a point. Raises ValueError with a correct example or the nearest name."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is not a point: write CALL#N/FAULT/PHASE, such as "
                "create_user_api_key#1/timeout/after_commit"
            )
        fault = check_faults([match["fault"]])[0]
        call = check_calls([match["call"]])[0]
        for phase in phases_of(fault):
            if phase == match["phase"]:
                return cls(call, int(match["number"]), fault, phase)
        phases_text = " or ".join(phases_of(fault))
        raise ValueError(f"the phase of {fault} must be {phases_text}, not {match['phase']!r}")


def points_of(request: NumberedRequest, fault: str) -> tuple[FaultPoint, ...]:
    """Return the points at which a request meets a fault, one for each phase of the fault."""
    return tuple(
        FaultPoint(request.call, request.number, fault, phase) for phase in phases_of(fault)
    )


def check_calls(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of calls without duplicates. Raises ValueError with the nearest name."""
    names = [call_named(text) for text in texts]
    for name in names:
        if name not in ALL_CALLS:
            raise ValueError(unknown("call", name, ALL_CALLS))
    return tuple(dict.fromkeys(names))


def check_faults(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words of faults without duplicates. Raises ValueError with the nearest word."""
    distinct_words = tuple(dict.fromkeys(words))
    for word in distinct_words:
        if word not in _WORDS:
            hint = nearest(word, _WORDS)
            if not hint:
                words_text = ", ".join([*KINDS, *WAITING_KINDS, *OUTCOMES, *WAITING_OUTCOMES])
                hint = f"; there are {words_text} and abort:CODE"
            raise ValueError(f"there is no fault {word!r}{hint}")
    return distinct_words


def kind_of(fault: str) -> str:
    """Return the kind of a fault, such as `abort` for `abort:forbidden`."""
    return fault.partition(":")[0]


def order_of(fault: str) -> int:
    """Return a fault's index among all faults. The wire faults come first."""
    is_refusal = lasting_effect(fault) is not None and fault not in LASTING_EFFECTS
    return _ORDER.index("outage" if is_refusal else kind_of(fault))


def phases_of(fault: str) -> tuple[Phase, ...]:
    """Return the phases in which a fault can act."""
    return PHASES if lasting_effect(fault) is None else ("lasting",)


def faults_for(call: str, words: Iterable[str]) -> list[str]:
    """Return the faults worth trying on a call, without duplicates, most revealing first.

    `abort` stands for the refusals that a client must expect at any time: service_unavailable,
    rate_limited and, when it creates a key, the uncertain result. `abort:*` stands for all codes,
    `refused` for the lasting refusals that the call may return, and `wire` for all KINDS.
    """
    codes = ALL_CALLS[call].codes
    if ALL_CALLS[call].idempotent:
        codes = (*codes, "idempotency_key_reused")
    uncertain_codes = [code for code in codes if code.endswith("_uncertain")]
    possible_codes = ("forbidden", *codes, "resource_not_found")
    codes_of_word = {
        "abort": ["service_unavailable", "rate_limited", *uncertain_codes],
        "abort:*": list(PROBLEMS),
        "refused": [code for code in possible_codes if not PROBLEMS[code].retryable],
    }
    faults: list[str] = []
    for word in _with_kinds(words):
        if word in codes_of_word:
            faults += [f"abort:{code}" for code in codes_of_word[word]]
        else:
            faults.append(word)
    return sorted(dict.fromkeys(faults), key=order_of)


def _with_kinds(words: Iterable[str]) -> list[str]:
    """Return the words with `wire` replaced by all kinds."""
    expanded: list[str] = []
    for word in words:
        if word == "wire":
            expanded += KINDS
        else:
            expanded.append(word)
    return expanded
