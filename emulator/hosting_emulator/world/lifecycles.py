"""Tables of the allowed state transitions, used by both the code and the tests.

The transitions of databases are not enforced, because `set_database` can set any state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class Lifecycle:
    """A table of state transitions. A state with no transitions is final."""

    def __init__(self, name: str, rows: Mapping[str, Sequence[str]]) -> None:
        """Create a lifecycle.

        `rows` maps each state to the states that may follow it, beginning with the initial state.
        """
        self.name = name
        self.initial = next(iter(rows))
        self.transitions = {state: frozenset(following) for state, following in rows.items()}
        self.finals = frozenset(state for state, following in rows.items() if not following)

    def may(self, current: str, following: str) -> bool:
        """Return whether a transition from `current` to `following` is allowed."""
        return following in self.transitions[current]

    def move(self, current: str, following: str) -> str:
        """Return `following`. Raises ValueError if the transition is not allowed."""
        if not self.may(current, following):
            raise ValueError(f"{self.name}: {current} cannot become {following}")
        return following


@dataclass(frozen=True, slots=True)
class StateWords:
    """The texts that describe an operation's state to users.

    `ended` says how the operation ended, and is empty for a state that is not final.
    """

    advice: str
    ended: str = ""


OPERATION = Lifecycle(
    "operation",
    {
        "queued": ["running", "cancelled"],
        "running": ["succeeded", "failed", "cancelled"],
        "succeeded": [],
        "failed": [],
        "cancelled": [],
    },
)
_POLL = StateWords("Poll the same operation again after next_poll_after_seconds.")
STATE_WORDS = {
    "queued": _POLL,
    "running": _POLL,
    "succeeded": StateWords("Nothing to do: the operation succeeded.", "succeeded"),
    "failed": StateWords("Read the operation's error, and follow its suggested_action.", "failed"),
    "cancelled": StateWords(
        "Start a new operation with a new Idempotency-Key if you still need it.", "was cancelled"
    ),
}
DEPLOYMENT = Lifecycle(
    "deployment",
    {
        "queued": ["building", "failed", "cancelled"],
        "building": ["deploying", "failed", "cancelled"],
        "deploying": ["ready", "failed", "cancelled"],
        "ready": ["failed", "superseded"],
        "failed": [],
        "cancelled": [],
        "superseded": [],
    },
)
DNS_AUTHORIZATION = Lifecycle(
    "DNS authorization",
    {
        "not_authorized": ["pending"],
        "pending": ["authorized", "revoked"],
        "authorized": ["expired", "revoked"],
        "expired": ["pending"],
        "revoked": ["pending"],
    },
)
DATABASE = Lifecycle(
    "database",
    {
        "init": ["ready", "failed"],
        "ready": ["suspended", "resizing", "failed"],
        "suspended": ["ready", "failed"],
        "resizing": ["ready", "failed"],
        "failed": ["ready"],
    },
)
TICKET = Lifecycle(
    "dev access ticket",
    {"unused": ["used", "expired", "revoked"], "used": [], "expired": [], "revoked": []},
)
API_KEY = Lifecycle("API key", {"active": ["expired", "revoked"], "expired": [], "revoked": []})
RECONCILIATION = Lifecycle(
    "reconciliation",
    {
        "none": ["required"],
        "required": ["running"],
        "running": ["completed", "exhausted"],
        "completed": ["required"],
        "exhausted": [],
    },
)

LIFECYCLES = (OPERATION, DEPLOYMENT, DNS_AUTHORIZATION, DATABASE, TICKET, API_KEY, RECONCILIATION)
