"""Points, and the plan: which request of a run meets which fault, in which phase, in a run of its own.

As text a point reads `create_user_api_key#1/timeout/after_commit`: the first request of that call.
The fault's word is a kind (`timeout`), or `abort:CODE` for a problem's code, `gateway_error:STATUS`
for a proxy's status, or what the service does for good from that request on (`fail/lasting`). What a
fault does is the same in every run, so that a report repeats.

Points that cannot look different to a client are merged into one, with the reason. Where the runs
are bounded, every request gets its share. The same requests give the same plan.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.faults.kinds import explored_kinds, fault_kinds
from hosting_emulator.sdk import Exchange, JsonObject

# --- What the service may do that is legal and lasts ---------------------------------------------
#
# A wire breaks once, and whoever tries again gets the answer. What stands here stays as it is to the
# end of the run: nobody can be asked to end well then, only to end, to say so, and not to make it worse.

#: What becomes of what was asked for: it is refused; it does not end; it is done, however long that
#: takes; or the answer is another one than usual.
End = Literal["refused", "unfinished", "done", "answer"]
#: What is armed: an outcome of the operations that the call begins; a fault of the call, or of every
#: request; other members of the answer; or an intervention, before anything else is done there.
Armed = Literal["outcome", "fault", "fault of all", "members", "intervention"]
_EVER = 1_000_000


class Lasting(NamedTuple):
    """One thing that the service may do from a request on, of a `call` if it makes sense there only."""

    end: End
    #: What follows the request's name in a sentence.
    says: str
    effect: JsonObject
    how: Armed = "outcome"
    call: str = ""

    def suits(self, at: NumberedRequest) -> bool:
        """Tell whether it makes sense from a request on."""
        if self.call and not (at.call == self.call and at.succeeded):
            return False
        if self.how == "members":
            if not isinstance(at.answer, dict) or at.answer.get("next_cursor"):
                return False  # what has no items has no other page
            return any(at.answer.get(name) != value for name, value in self.effect.items())
        if self.how == "intervention":
            begins = at.n == 1 if self.call else at.begins_operation and not at.busy
            return begins and at.exchange.project is not None
        return at.begins_operation if self.how == "outcome" else True

    def document(self, at: NumberedRequest, token: str | None = None) -> JsonObject:
        """Return what does it as a protected fault: to requests with `token`, if there is one."""
        rule: JsonObject = {"call": at.call, "skip_first": at.n - 1}
        effect = self.effect
        match self.how:
            case "outcome":  # a client that begins it anew meets the same
                rule |= {"skip_first": at.begun, "times": _EVER}
                return {"outcome": {**effect, **rule}}
            case "intervention":
                ((name, options),) = effect.items()
                return {"intervention": {name: {"project": at.exchange.project, **options}}}
            case "fault of all":
                rule = {"skip_first": at.place - 1}
                rule |= {"header": {"Authorization": f"Bearer {token}"}} if token else {}
            case "members":
                effect = {"respond": {"content": {**at.answer, **effect}}}
        return {"fault": {**effect, **rule}}


_NO_ZONE: JsonObject = {"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None}
#: All of them by word, the most telling first.
LASTING: Mapping[str, Lasting] = {
    "fail": Lasting("refused", "starts an operation that fails", {"fail": {}}),
    "value_lost": Lasting(
        "done",
        "creates a key whose value is lost with the response: a replay has null instead",
        {"connection_reset": {}, "times": 1, "phase": "after_commit"},
        *("fault", "create_user_api_key"),
    ),
    "outage": Lasting(
        "refused",
        "gets service_unavailable, and so does every later request",
        {"abort": {"code": "service_unavailable"}},
        "fault of all",
    ),
    "stick": Lasting("unfinished", "starts an operation that never ends", {"stick": {}}),
    "database_null": Lasting(
        *("answer", "shows no database", {"database": None}, "members", "read_database_compute")
    ),
    "no_zone": Lasting("answer", "shows no zone", _NO_ZONE, "members", "get_dns_authorization"),
    "empty_list": Lasting("answer", "lists nothing", {"items": []}, "members", "list_deployments"),
    "cancel": Lasting("refused", "starts an operation that is cancelled", {"cancel": {}}),
    "exhaust": Lasting(
        "refused",
        "starts an operation whose reconciliation is exhausted",
        {"reconcile": {"attempts": 2, "then": "exhaust"}},
    ),
    "token_expired": Lasting(
        "refused",
        "gets unauthenticated: the token has expired",
        {"abort": {"code": "unauthenticated"}},
        "fault of all",
    ),
    "blocked": Lasting(
        "unfinished",
        "starts an operation that waits for another one that never ends",
        {"hold_claim": {}},
        "intervention",
    ),
    "limited": Lasting(
        "refused",
        "gets rate_limited with Retry-After every time it is sent",
        {"abort": {"code": "rate_limited", "retry_after_seconds": 1}},
        "fault",
    ),
    "reconcile": Lasting(
        "done",
        "starts an operation that needs reconciliation twice, and then succeeds",
        {"reconcile": {"attempts": 2}},
    ),
    "long": Lasting(
        "done",
        "starts an operation that takes long, and then succeeds",
        {"succeed": {"queued": "10m", "running": "20m"}},
    ),
    # More deployments than the largest page holds (contract, Limits).
    "another_page": Lasting(
        "answer",
        "returns one more page",
        {"add_deployments": {"count": 101}},
        *("intervention", "list_deployments"),
    ),
}
#: The same, and the problems that no retry helps against.
_LASTS = {
    **LASTING,
    **{
        f"abort:{code}": Lasting(
            *("refused", f"gets {code} every time it is sent", {"abort": {"code": code}}, "fault")
        )
        for code, problem in PROBLEMS.items()
        if not problem.retryable
    },
}
#: Returns what a word stands for; None: it is something of the wire, which passes.
lasting = _LASTS.get

# --- Points --------------------------------------------------------------------------------------

Phase = Literal["before_commit", "after_commit", "lasting"]
PHASES: tuple[Phase, ...] = ("before_commit", "after_commit")
#: Every kind of fault, the most telling first: where runs are bounded, these are left out last.
KINDS = explored_kinds()
#: What the service may do for good; `refused` stands for the problems that fit the call.
OUTCOMES = (*LASTING, "refused")
_ORDER = (*KINDS, *LASTING)
#: How late the last byte of a delayed answer is, in real milliseconds, for clients that wait so long.
LATE_MS = 1000
#: `wire` stands for all kinds.
_WORDS = (
    *(*KINDS, *OUTCOMES, "wire", *(f"abort:{code}" for code in PROBLEMS), "abort:*"),
    *(f"gateway_error:{status}" for status in (500, 502, 503, 504)),
)
#: Of ten points the one that tells most, the first of these first; and a few of a small command's.
_FEWEST = 6
_TELLING = (
    *("fail", "value_lost", "connection_reset", "outage", "abort:forbidden", "stick"),
    *("abort:service_unavailable", "database_null", "no_zone"),
)
_TEXT = re.compile(r"(?P<call>[^#/]+)#(?P<n>[1-9][0-9]{0,5})/(?P<fault>[^/]+)/(?P<phase>[^/]+)")
#: What the log says of a fault that acted. A latency lets other faults act too.
_ACTED = re.compile(r"\S+ \((?!latency,)\w+, (before_commit|after_commit)\) acted\b")


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """The `n`-th request of a call (from 1) meets a fault, named as `--faults` names it."""

    call: str
    n: int
    fault: str
    phase: Phase

    @property
    def request(self) -> str:
        """The request's name, such as `create_user_api_key#1`."""
        return f"{self.call}#{self.n}"

    @property
    def lasting(self) -> Lasting | None:
        """What lasts from the request on; None: something of the wire, which passes."""
        return _LASTS.get(self.fault)

    def __str__(self) -> str:
        return f"{self.request}/{self.fault}/{self.phase}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a point. Raises ValueError, which says what would be right."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is not a point: write CALL#N/FAULT/PHASE, such as "
                "create_user_api_key#1/timeout/after_commit"
            )
        (fault,), (call,) = check_faults([found["fault"]]), check_calls([found["call"]])
        phase = _known(found["phase"], phases_of(fault), f"phase of {fault}")
        return cls(call, int(found["n"]), fault, phase)  # type: ignore[arg-type]


def check_calls(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of calls, each once. Raises ValueError, naming the nearest."""
    return tuple(dict.fromkeys(_known(call_named(text), ALL_CALLS, "call") for text in texts))


def check_faults(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words of faults, each once. Raises ValueError, naming the nearest."""
    all_ = f"{', '.join((*KINDS, *OUTCOMES))} and abort:CODE"
    return tuple(dict.fromkeys(_known(word, _WORDS, "fault", all_) for word in words))


def _known(word: str, words: Collection[str], what: str, all_: str = "") -> str:
    if word not in words:
        hint = nearest(word, words) or f"; there are {all_ or ', '.join(words)}"
        raise ValueError(f"no {what} is named {word!r}{hint}")
    return word


def kind_of(fault: str) -> str:
    """Return the kind of a fault's word."""
    return fault.partition(":")[0]


def order_of(fault: str) -> int:
    """Return a fault's place among all: those of the wire first."""
    return _ORDER.index(kind_of(fault) if fault in LASTING or not lasting(fault) else "outage")


def phases_of(fault: str) -> tuple[Phase, ...]:
    """Return the phases that a fault has: none but its own, where it lasts."""
    return ("lasting",) if lasting(fault) else PHASES


def faults_for(call: str, words: Iterable[str]) -> list[str]:
    """Return the faults worth trying on a call, each once, the most telling first.

    `abort` stands for the refusals that a client must live with at any time: service_unavailable,
    rate_limited, and for the creation of a key its own uncertainty. `abort:*` stands for all codes,
    `refused` for those that last and fit the call, `wire` for all that break a connection or answer.
    """
    words = [kind for word in words for kind in (KINDS if word == "wire" else (word,))]
    codes = ALL_CALLS[call].codes
    uncertain = [code for code in codes if code.endswith("_uncertain")]
    refused = ("forbidden", *codes, "resource_not_found")
    stands_for = {
        "abort": ("service_unavailable", "rate_limited", *uncertain),
        "abort:*": PROBLEMS,
        "refused": [code for code in refused if not PROBLEMS[code].retryable],
    }
    found = [
        f"abort:{code}" if word in stands_for else word
        for word in words
        for code in stands_for.get(word, ("",))
    ]
    return sorted(dict.fromkeys(found), key=order_of)


class ObservedExchange(Exchange, frozen=True, kw_only=True):
    """An exchange of a run, and which chapter of the observation it is from."""

    chapter: int = 0


@dataclass(frozen=True, slots=True)
class NumberedRequest:
    """A request of the log: the `n`-th of its call, and the `n_after`-th that faults after it see.

    `n_after` leaves out those that a fault of the world's own met after the commit; `succeeded` is
    whether another can act there. `place` is its number among all, `begun` how many its call has begun
    before, `busy` whether the project had an operation before. `answer_bytes` is its answer's length.
    """

    exchange: ObservedExchange
    call: str
    n: int
    n_after: int
    succeeded: bool
    place: int = 1
    begun: int = 0
    busy: bool = False
    answer_bytes: int = 0
    answer: Any = None

    @property
    def name(self) -> str:
        """Such as `create_user_api_key#1`."""
        return f"{self.call}#{self.n}"

    @property
    def key(self) -> str | None:
        """The Idempotency-Key that it came with, if it is to have one."""
        return self.exchange.idempotency_key if ALL_CALLS[self.call].idempotent else None

    @property
    def is_read(self) -> bool:
        """Whether it asks to change nothing."""
        return ALL_CALLS[self.call].method == "GET"

    def points(self, fault: str) -> tuple[FaultPoint, ...]:
        """Return the points at which it meets a fault: before the commit and after it, or the one."""
        return tuple(FaultPoint(self.call, self.n, fault, phase) for phase in phases_of(fault))

    @property
    def begins_operation(self) -> bool:
        """Whether it has begun an operation."""
        spec = ALL_CALLS[self.call]
        return self.succeeded and spec.idempotent and spec.response == "Operation"


#: A request among those of several worlds: its chapter of the observation, and its number there.
Place: TypeAlias = tuple[int, int]


def place_of(exchange: ObservedExchange) -> Place:
    """Return which request of which chapter an exchange is."""
    return exchange.chapter, exchange.n


def number(
    exchanges: Iterable[ObservedExchange], answers: Mapping[Place, tuple[int, Any]] | None = None
) -> tuple[NumberedRequest, ...]:
    """Number the exchanges of a log, given oldest first; `answers` are their lengths and what they hold.

    Left out are those that no fault meets that is armed later: of no call, of nobody known, or met by
    a fault of the world's own before.
    """
    counts, after, begun, busy = Counter[str](), Counter[str](), Counter[str](), set[object]()
    numbered: list[NumberedRequest] = []
    for exchange in exchanges:
        call = exchange.call
        acted = {found[1] for why in exchange.why if (found := _ACTED.match(why))}
        known = call in ALL_CALLS and exchange.principal is not None
        if call is None or not known or "before_commit" in acted:
            continue
        succeeded = 200 <= exchange.status < 400 and not acted
        project = (exchange.chapter, exchange.project)
        counts[call] += 1
        after[call] += not acted
        counted = (counts[call], after[call], succeeded, len(numbered) + 1, begun[call])
        answer = (answers or {}).get(place_of(exchange), ())
        request = NumberedRequest(exchange, call, *counted, project in busy, *answer)
        numbered.append(request)
        begun[call] += succeeded and not exchange.replayed
        busy.update([project] if request.begins_operation else [])
    return tuple(numbered)


READ = "a read changes nothing, so both phases look the same"
SLOW = "the change is made in both phases, with the same response"
LIMIT = "a limit refuses the request before anything is done"
SAME_LIMIT = "rate_limit gives the same refusal, with the same Retry-After"
REPEATED = "the same read repeated, neither the first nor the last time"
#: Why both phases of a fault need one run only; without a reason they need two.
_ONE_RUN = {"slow_response": SLOW, "rate_limit": LIMIT, "abort:rate_limited": LIMIT}


class MergedPoint(NamedTuple):
    """A point that gets no run of its own: `into` stands for it, because of `why`."""

    point: FaultPoint
    into: FaultPoint
    why: str


class Plan(NamedTuple):
    """What is to be run, in order; what was merged; what is left out, and by what."""

    requests: tuple[NumberedRequest, ...]
    points: tuple[FaultPoint, ...]
    merged: tuple[MergedPoint, ...]
    left_out: tuple[FaultPoint, ...]
    left_out_by: str = ""


def plan(
    requests: Sequence[NumberedRequest],
    *,
    faults: Iterable[str],
    calls: Iterable[str] = (),
    max_runs: int | None = None,
    quick: bool = False,
) -> Plan:
    """Plan the runs, of all calls without `calls`; with `quick` a tenth, or a few: which tell most."""
    words, only = tuple(faults), set(calls)
    chosen = tuple(r for r in requests if not only or r.call in only)
    reads: dict[tuple[object, ...], list[NumberedRequest]] = {}
    for request in chosen:
        if request.is_read:
            same = tuple(
                getattr(request.exchange, name) for name in ("call", "path", "query", "status")
            )
            reads.setdefault(same, []).append(request)
    # Of like reads those in between, by name: the first stands for them.
    stands_for = {again.name: found[0].n for found in reads.values() for again in found[1:-1]}
    merged: list[MergedPoint] = []
    of_request: list[list[FaultPoint]] = []
    for request in chosen:
        points, more = _points(request, faults_for(request.call, words))
        merged += more
        if request.name not in stands_for:
            of_request.append(points)
            continue
        first = stands_for[request.name]
        merged += [MergedPoint(p, replace(p, n=first), REPEATED) for p in points]
    ordered = [p for turn in zip_longest(*of_request) for p in turn if p is not None]
    bound, left_out_by = len(ordered) if max_runs is None else max_runs, "the limit on runs"
    if quick:
        reads_of = {request.name: request.is_read for request in chosen}
        ordered.sort(key=lambda point: (_rank(point), reads_of[point.request]))
        few = max(_FEWEST, -(-len(ordered) // 10))
        bound, left_out_by = (few, "quick") if few < bound else (bound, left_out_by)
    left_out = tuple(ordered[bound:])
    return Plan(chosen, tuple(ordered[:bound]), tuple(merged), left_out, left_out_by)


def _rank(point: FaultPoint) -> int:
    """Return a point's place among those that tell most."""
    passed = point.fault == "connection_reset" and point.phase == "before_commit"
    return len(_TELLING) if passed or point.fault not in _TELLING else _TELLING.index(point.fault)


def fault_at(point: FaultPoint, request: NumberedRequest, late_ms: int = LATE_MS) -> JsonObject:
    """Return the fault that makes a point of a `request` of the clean run, to be armed in a new world.

    `late_ms` is how late the last byte of a delayed answer is, in real milliseconds.
    """
    passed = request.n_after if point.phase == "after_commit" else request.n
    kind, _, detail = point.fault.partition(":")
    return {
        kind: fault_kinds()[kind].explore_options(detail, request.answer_bytes, late_ms),
        "call": point.call,
        "phase": point.phase,
        "skip_first": max(0, passed - 1),
        "times": 1,
    }


def _points(
    request: NumberedRequest, faults: Sequence[str]
) -> tuple[list[FaultPoint], list[MergedPoint]]:
    points: list[FaultPoint] = []
    merged: list[MergedPoint] = []
    for fault in faults:
        if (found := lasting(fault)) is not None:
            points += request.points(fault) if found.suits(request) else ()
            continue
        before, after = request.points(fault)
        # Of what was refused there is no commit that a fault could follow.
        possible = [after, before] if request.succeeded else [before]
        if fault == "abort:rate_limited" and "rate_limit" in faults:
            same = request.points("rate_limit")[0]
            merged += [MergedPoint(point, same, SAME_LIMIT) for point in possible[::-1]]
            continue
        why = READ if request.is_read else _ONE_RUN.get(fault)
        points += possible if why is None else [before]
        if why is not None and request.succeeded:
            merged.append(MergedPoint(after, before, why))
    return points, merged
