"""Lifecycles: which state may follow which. Code, documents and tests all read these tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Lifecycle:
    """A table of transitions. A state that leads nowhere is terminal."""

    name: str
    initial: str
    transitions: Mapping[str, frozenset[str]]

    def may(self, current: str, following: str) -> bool:
        """Tell whether a transition is in the table."""
        return following in self.transitions[current]

    def move(self, current: str, following: str) -> str:
        """Return `following`. Raises ValueError when the table has no such transition."""
        if not self.may(current, following):
            raise ValueError(f"{self.name}: {current} cannot become {following}")
        return following

    def terminal(self, state: str) -> bool:
        """Tell whether a state is final."""
        return not self.transitions[state]

    def assumed(self, others: Mapping[str, str]) -> Lifecycle:
        """Return the table with some rows replaced, as an assumption writes them."""
        if not others:
            return self
        rows = {state: frozenset(following.split()) for state, following in others.items()}
        return Lifecycle(self.name, self.initial, {**self.transitions, **rows})

    @cached_property
    def finals(self) -> frozenset[str]:
        """All states that are final."""
        return frozenset(filter(self.terminal, self.transitions))


def _lifecycle(name: str, **transitions: str) -> Lifecycle:
    table = {state: frozenset(following.split()) for state, following in transitions.items()}
    return Lifecycle(name, next(iter(table)), table)


OPERATION = _lifecycle(
    "operation",
    queued="running cancelled",
    running="succeeded failed cancelled",
    succeeded="",
    failed="",
    cancelled="",
)
DEPLOYMENT = _lifecycle(
    "deployment",
    queued="building failed cancelled",
    building="deploying failed cancelled",
    deploying="ready failed cancelled",
    ready="",
    failed="",
    cancelled="",
)
DNS_AUTHORIZATION = _lifecycle(
    "DNS authorization",
    not_authorized="pending",
    pending="authorized revoked",
    authorized="expired revoked",
    expired="pending",
    revoked="pending",
)
DATABASE = _lifecycle(
    "database",
    init="ready failed",
    ready="suspended resizing failed",
    suspended="ready failed",
    resizing="ready failed",
    failed="ready",
)
TICKET = _lifecycle(
    "dev access ticket", unused="used expired revoked", used="", expired="", revoked=""
)
API_KEY = _lifecycle("API key", active="expired revoked", expired="", revoked="")


RECONCILIATION = _lifecycle(
    "reconciliation",
    none="required",
    required="running",
    running="completed exhausted",
    completed="required",
    exhausted="",
)

LIFECYCLES = (OPERATION, DEPLOYMENT, DNS_AUTHORIZATION, DATABASE, TICKET, API_KEY, RECONCILIATION)
