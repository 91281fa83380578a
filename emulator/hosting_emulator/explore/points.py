"""A point: which request meets which fault, and in which phase.

As text it reads `create_user_api_key#1/timeout/after_commit`: the first request of that call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

from hosting_emulator.contract.calls import ALL_CALLS, CallSpec
from hosting_emulator.contract.words import nearest
from hosting_emulator.explore.kinds import check_fault

Phase = Literal["before_commit", "after_commit"]
PHASES: tuple[Phase, ...] = ("before_commit", "after_commit")
#: The eight calls and the poll, by call_id, in the contract's order.
CALLS: dict[str, CallSpec] = ALL_CALLS
_TEXT = re.compile(r"(?P<call>[^#/]+)#(?P<n>[1-9][0-9]{0,5})/(?P<fault>[^/]+)/(?P<phase>[^/]+)")


@dataclass(frozen=True, slots=True)
class Point:
    """The `n`-th request of a call (from 1) meets a fault, named as `--faults` names it."""

    call: str
    n: int
    fault: str
    phase: Phase

    @property
    def request(self) -> str:
        """The request's name, such as `create_user_api_key#1`."""
        return f"{self.call}#{self.n}"

    def __str__(self) -> str:
        return f"{self.request}/{self.fault}/{self.phase}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a point. Raises ValueError, which says what would be right."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is no point: write CALL#N/FAULT/PHASE, such as "
                "create_user_api_key#1/timeout/after_commit"
            )
        phase = _known(found["phase"], PHASES, "phase")
        check_fault(found["fault"])
        call = check_call(found["call"])
        return cls(call, int(found["n"]), found["fault"], phase)  # type: ignore[arg-type]


def check_call(text: str) -> str:
    """Return the name of a call. Raises ValueError, naming the nearest."""
    return _known(text, tuple(CALLS), "call")


def _known(word: str, words: tuple[str, ...], what: str) -> str:
    if word not in words:
        hint = nearest(word, words) or f"; there are {', '.join(words)}"
        raise ValueError(f"no {what} is named {word!r}{hint}")
    return word
