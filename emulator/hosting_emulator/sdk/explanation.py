"""Why an operation is where it is, for people and for tests."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.sdk.observed import Why


@dataclass(frozen=True)
class NextStep:
    """What happens next by itself, and when in world time (an RFC 3339 timestamp)."""

    at: str
    what: str


@dataclass(frozen=True)
class Explanation:
    """Why an operation is where it is; `str()` is the whole story.

    `says` are sentences; `next` is None when time alone moves nothing; `waits_for` is the id of the
    operation that must end first; `held_by` says what keeps it; `commands` would move it on.
    """

    operation: str
    kind: str
    project: str
    state: str
    phase: str
    at: str
    says: tuple[str, ...]
    next: NextStep | None
    waits_for: str | None
    held_by: str | None
    commands: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.kind} of {self.project} ({self.operation}) is {self.state}"
            f"{'' if self.phase in (self.state, 'done') else f' ({self.phase})'} at {self.at}"
        ]
        lines += [f"  {sentence}" for sentence in self.says]
        if self.next:
            lines.append(f"  next, at {self.next.at}: {self.next.what}")
        lines += [f"  try: {command}" for command in self.commands]
        return "\n".join(lines)


def explanation(told: Why) -> Explanation:
    """Read what the control API tells."""
    coming = told["next"]
    return Explanation(
        operation=told["operation"],
        kind=told["kind"],
        project=told["project"],
        state=told["state"],
        phase=told["phase"],
        at=told["at"],
        says=tuple(told["says"]),
        next=NextStep(coming["at"], coming["what"]) if coming else None,
        waits_for=told["waits_for"],
        held_by=told["held_by"],
        commands=tuple(told["commands"]),
    )
