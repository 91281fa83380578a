"""What the service may do that is legal and lasts: each by its word, with what it is armed as.

A wire breaks once, and whoever tries again gets the answer. What stands here stays as it is to the
end of the run, for the contract lets it last: nobody can be asked to end well then, only to end, to
say so, and not to make it worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import HostingEmulator, JsonObject

#: What becomes of what was asked for: it is not done and the client hears so; it does not end; it is
#: done in the end, however long that takes; or the answer is another one than usual.
Class = Literal["refused", "unfinished", "done", "answer"]
_EVER = 1_000_000


class Occasion(NamedTuple):
    """The request from which on it lasts: the `n`-th of its call, the `place`-th of all (from 1).

    `begun` is how much the call has begun before, `busy`: the project had an operation before.
    `answer` is the body of its usual answer, `project` an id; `token` is what clients are given, if
    that is known.
    """

    call: str
    n: int
    place: int
    begun: int
    busy: bool
    succeeded: bool
    answer: Any
    project: str | None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Lasting:
    """One thing that the service may do. `says` follows the name of a request.

    `suits` tells on which requests it makes sense. `arm` has a world do it.
    """

    word: str
    kind: Class
    says: str
    suits: Callable[[Occasion], bool]
    arm: Callable[[HostingEmulator, Occasion], Any]


def begins_operation(call: str) -> bool:
    """Whether a call begins an operation."""
    return ALL_CALLS[call].idempotent and ALL_CALLS[call].response == "Operation"


def _begins(found: Occasion) -> bool:
    return found.succeeded and begins_operation(found.call)


def _told(word: str, kind: Class, says: str, outcome: JsonObject) -> Lasting:
    def arm(world: HostingEmulator, at: Occasion) -> object:
        # A client that begins it anew meets the same.
        return world.tell({**outcome, "call": at.call, "skip_first": at.begun, "times": _EVER})

    return Lasting(word, kind, says, _begins, arm)


def _problem(code: str, word: str = "", says: str = "") -> Lasting:
    def arm(world: HostingEmulator, at: Occasion) -> object:
        rule = {"call": at.call, "skip_first": at.n - 1}
        return world.arm({"abort": {"code": code}, **rule})

    text = says or f"gets {code} every time it is sent"
    return Lasting(word or f"abort:{code}", "refused", text, lambda _: True, arm)


def _of_all(word: str, says: str, effect: JsonObject) -> Lasting:
    def arm(world: HostingEmulator, at: Occasion) -> object:
        expired = word == "token_expired" and at.token is not None
        header = {"header": {"Authorization": f"Bearer {at.token}"}} if expired else {}
        return world.arm({**effect, **header, "skip_first": at.place - 1})

    return Lasting(word, "refused", says, lambda _: True, arm)


def _answered(word: str, call: str, says: str, members: Mapping[str, Any]) -> Lasting:
    def suits(at: Occasion) -> bool:
        if at.call != call or not isinstance(at.answer, dict) or not at.succeeded:
            return False
        last = not at.answer.get("next_cursor")  # what has no items has no other page
        return last and any(at.answer.get(name) != value for name, value in members.items())

    def arm(world: HostingEmulator, at: Occasion) -> object:
        content = {**at.answer, **members}
        return world.arm({"respond": {"content": content}, "call": call, "skip_first": at.n - 1})

    return Lasting(word, "answer", says, suits, arm)


def _lose_value(world: HostingEmulator, at: Occasion) -> object:
    rule = {"call": at.call, "skip_first": at.n - 1, "times": 1, "phase": "after_commit"}
    return world.arm({"connection_reset": {}, **rule})


def _add_page(world: HostingEmulator, at: Occasion) -> None:
    # More than the largest page holds (contract, Limits).
    world.intervene("add_deployments", project=at.project, count=101)


def _hold_claim(world: HostingEmulator, at: Occasion) -> None:
    world.intervene("hold_claim", project=at.project)


_NO_ZONE: JsonObject = {"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None}
_ROWS = (
    _told("fail", "refused", "starts an operation that fails", {"fail": {}}),
    Lasting(
        "value_lost",
        "done",
        "creates a key whose value is lost with the response: a replay has null instead",
        lambda at: at.call == "create_user_api_key" and at.succeeded,
        _lose_value,
    ),
    _of_all(
        "outage",
        "gets service_unavailable, and so does every later request",
        {"abort": {"code": "service_unavailable"}},
    ),
    _told("stick", "unfinished", "starts an operation that never ends", {"stick": {}}),
    _answered("database_null", "read_database_compute", "shows no database", {"database": None}),
    _answered("no_zone", "get_dns_authorization", "shows no zone", _NO_ZONE),
    _answered("empty_list", "list_deployments", "lists nothing", {"items": []}),
    _told("cancel", "refused", "starts an operation that is cancelled", {"cancel": {}}),
    _told(
        "exhaust",
        "refused",
        "starts an operation whose reconciliation is exhausted",
        {"reconcile": {"attempts": 2, "then": "exhaust"}},
    ),
    _of_all(
        "token_expired",
        "gets unauthenticated: the token has expired",
        {"abort": {"code": "unauthenticated"}},
    ),
    Lasting(
        "blocked",
        "unfinished",
        "starts an operation that waits for another one that never ends",
        lambda at: _begins(at) and not at.busy and at.project is not None,
        _hold_claim,
    ),
    Lasting(
        "limited",
        "refused",
        "gets rate_limited with Retry-After every time it is sent",
        lambda _: True,
        lambda world, at: world.arm(
            {
                "abort": {"code": "rate_limited", "retry_after_seconds": 1},
                "call": at.call,
                "skip_first": at.n - 1,
            }
        ),
    ),
    _told(
        "reconcile",
        "done",
        "starts an operation that needs reconciliation twice, and then succeeds",
        {"reconcile": {"attempts": 2}},
    ),
    _told(
        "long",
        "done",
        "starts an operation that takes long, and then succeeds",
        {"succeed": {"queued": "10m", "running": "20m"}},
    ),
    Lasting(
        "another_page",
        "answer",
        "returns one more page",
        lambda at: (
            at.call == "list_deployments" and at.n == 1 and at.succeeded and bool(at.project)
        ),
        _add_page,
    ),
)
#: All of them by word, the most telling first; and problems that no retry helps against.
LASTING: Mapping[str, Lasting] = {row.word: row for row in _ROWS}
_REFUSALS = {
    f"abort:{code}": _problem(code) for code, problem in PROBLEMS.items() if not problem.retryable
}


def lasting(word: str) -> Lasting | None:
    """Return what a word stands for; None: it is something of the wire, which passes."""
    return LASTING.get(word) or _REFUSALS.get(word)


def refusals(call: str) -> Sequence[str]:
    """Return the words of problems that a call may answer for good, whatever it was asked."""
    codes = ("forbidden", *ALL_CALLS[call].codes, "resource_not_found")
    return [f"abort:{code}" for code in codes if not PROBLEMS[code].retryable]
