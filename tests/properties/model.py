"""A small model of the service, written from the contract and the list of silent points alone.

It shares no code with the emulator. It does not move an operation step by step: it calculates the
states from the time when the operation was accepted and from the earlier operations of the project.
"""

from __future__ import annotations

from dataclasses import dataclass, field

QUEUED_MS = 2_000
RUNNING_MS = 8_000
TICKET_MS = 600_000
KEY_MS = 90 * 86_400_000
#: How long an Idempotency-Key is remembered.
MEMORY_MS = 86_400_000
RANKS = {None: 0, "reader": 1, "maintainer": 2, "owner": 3}
ROLES = {
    "owner": dict.fromkeys(("shop", "blog", "docs", "labs"), "owner"),
    "member": {"shop": "maintainer", "blog": "maintainer"},
    "reader": {"shop": "reader", "blog": "reader", "docs": "reader"},
    "outsider": {"garden": "owner", "notes": "owner"},
}
PROJECTS = ("shop", "blog", "docs", "labs", "garden", "notes")
#: The only project of an organization without a paid plan that has its own domain.
PROJECT_THAT_NEEDS_ITS_FLAG = "garden"


@dataclass
class Operation:
    """An accepted operation, and when it will run and end."""

    id: str
    kind: str
    created_ms: int
    runs_ms: int
    ends_ms: int
    final_state: str

    def state(self, now_ms: int) -> str:
        if now_ms < self.runs_ms:
            return "queued"
        if now_ms < self.ends_ms:
            return "running"
        return self.final_state


@dataclass
class Project:
    """A project: its flag, its source, and its operations in the order of their acceptance."""

    flag: bool
    flag_at_ms: int | None = None
    first_generation: int = 1
    operations: list[Operation] = field(default_factory=list)
    deployments: list[str] = field(default_factory=list)

    def generation(self, now_ms: int) -> int:
        succeeded = [
            operation
            for operation in self.operations
            if operation.kind == "source" and operation.state(now_ms) == "succeeded"
        ]
        return self.first_generation + len(succeeded)

    def accept(self, operation_id: str, kind: str, now_ms: int) -> Operation:
        """Add an operation behind the others and calculate its states."""
        free_ms = self.operations[-1].ends_ms if self.operations else 0
        runs_ms = max(free_ms, now_ms + QUEUED_MS)
        is_stale = kind == "source" and self.generation(now_ms) != self.generation(runs_ms)
        operation = Operation(
            id=operation_id,
            kind=kind,
            created_ms=now_ms,
            runs_ms=runs_ms,
            ends_ms=runs_ms if is_stale else runs_ms + RUNNING_MS,
            final_state="failed" if is_stale else "succeeded",
        )
        self.operations.append(operation)
        return operation

    def active(self, now_ms: int) -> Operation | None:
        """Return the operation that holds the claim."""
        return next(
            (operation for operation in self.operations if operation.ends_ms > now_ms), None
        )


@dataclass
class Ticket:
    """A dev access ticket. It is `spent` after its use, or after another ticket revoked it."""

    project: str
    url: str
    expires_ms: int
    spent: bool = False


@dataclass
class ApiKey:
    """A user API key, and when it ends."""

    id: str
    value: str
    organization: str
    ends_ms: int


@dataclass
class RememberedRequest:
    """A request with an Idempotency-Key, and its first response."""

    user: str
    key: str
    kind: str
    project: str
    value: object
    status: int
    body: bytes
    until_ms: int


@dataclass
class Model:
    """Everything that the state machine expects of a world."""

    now_ms: int
    projects: dict[str, Project]
    tickets: list[Ticket] = field(default_factory=list)
    last_tickets: dict[str, Ticket] = field(default_factory=dict)
    keys: list[ApiKey] = field(default_factory=list)
    remembered: list[RememberedRequest] = field(default_factory=list)

    def role(self, user: str, project: str) -> int:
        return RANKS[ROLES.get(user, {}).get(project)]

    def refusal(self, user: str, project: str, least: str) -> int | None:
        """Return the status with which a user is refused, or None if the user has access."""
        role = self.role(user, project)
        if role == 0:
            return 404
        return 403 if role < RANKS[least] else None
