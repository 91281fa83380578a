"""The requests of one run, as far as a fault can meet them, named by their call and number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hosting_emulator.explore.points import CALLS
from hosting_emulator.sdk import Exchange

#: What the log says of a fault that acted. A latency lets other faults act too.
_ACTED = re.compile(r"\S+ \((?!latency,)\w+, (before_commit|after_commit)\) acted\b")


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request of the log: the `n`-th of its call, and the `n_done`-th of those that succeeded.

    `n_done` counts this one only if it succeeded, and no fault of its world's own came after its
    commit: `succeeded` is whether it counts. `log_n` is its number in the request log;
    `answer_bytes` how long its answer's body was, if anybody asked.
    """

    call: str
    n: int
    n_done: int
    log_n: int
    method: str
    path: str
    query: str
    status: int
    code: str | None
    keyed: bool
    succeeded: bool
    answer_bytes: int = 0

    @property
    def name(self) -> str:
        """Such as `create_user_api_key#1`."""
        return f"{self.call}#{self.n}"

    @property
    def is_read(self) -> bool:
        """Whether it asks to change nothing."""
        return CALLS[self.call].method == "GET"


def number(
    exchanges: Iterable[Exchange], sizes: Mapping[int, int] | None = None
) -> tuple[SeenRequest, ...]:
    """Number the exchanges of a log, given oldest first.

    Left out are those that no fault meets that is armed later: of no call, of nobody known, or met by
    a fault of the world's own before. `sizes` are the lengths of
    their answers' bodies, by number in the log.
    """
    counts: Counter[str] = Counter()
    done: Counter[str] = Counter()
    numbered = []
    for exchange in exchanges:
        call = exchange["call"]
        if call is None or call not in CALLS or exchange["principal"] is None:
            continue
        acted = {found[1] for why in exchange["why"] if (found := _ACTED.match(why))}
        if "before_commit" in acted:
            continue
        succeeded = 200 <= exchange["status"] < 400 and not acted
        counts[call] += 1
        done[call] += succeeded
        numbered.append(
            SeenRequest(
                call=call,
                n=counts[call],
                n_done=done[call],
                log_n=exchange["n"],
                method=exchange["method"],
                path=exchange["path"],
                query=exchange["query"],
                status=exchange["status"],
                code=exchange["code"],
                keyed=exchange["idempotency_key"] is not None,
                succeeded=succeeded,
                answer_bytes=(sizes or {}).get(exchange["n"], 0),
            )
        )
    return tuple(numbered)
