"""A small model of the service, written from the contract and the list of silent points alone.

It shares no code with the emulator. An operation is not moved step by step: its states are worked
out from when it was accepted and from those before it in its project's queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field

QUEUED_MS, RUNNING_MS = 2_000, 8_000
TICKET_MS, KEY_MS, MEMORY_MS = 600_000, 90 * 86_400_000, 86_400_000
RANKS = {None: 0, "reader": 1, "maintainer": 2, "owner": 3}
ROLES = {
    "owner": dict.fromkeys(("shop", "blog", "docs", "labs"), "owner"),
    "member": {"shop": "maintainer", "blog": "maintainer"},
    "reader": {"shop": "reader", "blog": "reader", "docs": "reader"},
    "outsider": {"garden": "owner", "notes": "owner"},
}
PROJECTS = ("shop", "blog", "docs", "labs", "garden", "notes")
#: The one project of a Free workspace with a domain of its own.
NEEDS_ITS_FLAG = "garden"


@dataclass
class Operation:
    """An accepted operation, and when it will run and end."""

    id: str
    kind: str
    created_ms: int
    runs_ms: int
    ends_ms: int
    outcome: str

    def state(self, now_ms: int) -> str:
        if now_ms < self.runs_ms:
            return "queued"
        return "running" if now_ms < self.ends_ms else self.outcome


@dataclass
class Project:
    """A project: its flag, its source, its operations in the order they came."""

    flag: bool
    flag_at_ms: int | None = None
    first_generation: int = 1
    operations: list[Operation] = field(default_factory=list)
    deployments: list[str] = field(default_factory=list)

    def generation(self, now_ms: int) -> int:
        succeeded = [
            found
            for found in self.operations
            if found.kind == "source" and found.state(now_ms) == "succeeded"
        ]
        return self.first_generation + len(succeeded)

    def accept(self, operation_id: str, kind: str, now_ms: int) -> Operation:
        """Put an operation behind the others and work out its fate."""
        free_ms = self.operations[-1].ends_ms if self.operations else 0
        runs_ms = max(free_ms, now_ms + QUEUED_MS)
        stale = kind == "source" and self.generation(now_ms) != self.generation(runs_ms)
        ends_ms = runs_ms if stale else runs_ms + RUNNING_MS
        outcome = "failed" if stale else "succeeded"
        operation = Operation(operation_id, kind, now_ms, runs_ms, ends_ms, outcome)
        self.operations.append(operation)
        return operation

    def active(self, now_ms: int) -> Operation | None:
        """Return the operation that holds the claim."""
        return next((found for found in self.operations if found.ends_ms > now_ms), None)


@dataclass
class Ticket:
    """A dev access ticket; `spent` once it was used or another one revoked it."""

    project: str
    secret: str
    expires_ms: int
    spent: bool = False


@dataclass
class Answered:
    """A first answer under an Idempotency-Key."""

    who: str
    key: str
    kind: str
    project: str
    value: object
    status: int
    body: bytes
    until_ms: int


@dataclass
class Model:
    """Everything the machine expects of a world."""

    now_ms: int
    projects: dict[str, Project]
    tickets: list[Ticket] = field(default_factory=list)
    last_tickets: dict[str, Ticket] = field(default_factory=dict)
    keys: list[tuple[str, str, int]] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)

    def role(self, who: str, project: str) -> int:
        return RANKS[ROLES.get(who, {}).get(project)]

    def refusal(self, who: str, project: str, least: str) -> int | None:
        """Return the status with which a caller is turned away; None lets them in."""
        role = self.role(who, project)
        if role == 0:
            return 404
        return 403 if role < RANKS[least] else None
