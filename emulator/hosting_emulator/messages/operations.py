"""Messages about a world's operations: their states, their histories, and explanations of what they
are waiting for.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from hosting_emulator.messages.declaration import ControlMessage, doc


class OperationName(ControlMessage, frozen=True, kw_only=True):
    """A summary of an operation."""

    id: Annotated[str, doc("The id of the operation.")]
    kind: Annotated[str, doc("The kind of operation.")]
    project: Annotated[str, doc("The alias of the operation's project.")]
    state: Annotated[str, doc("The state of the operation.")]


class OperationState(OperationName, frozen=True, kw_only=True):
    """An operation and its progress."""

    phase: Annotated[str, doc("The phase of the operation.")]
    stuck: Annotated[bool, doc("Whether the operation is stuck.")]
    created_at: Annotated[str, doc("The world time at which the operation was created.")]
    updated_at: Annotated[str, doc("The world time at which the operation last changed.")]
    age_ms: Annotated[
        int, doc("The time since the operation was created, in milliseconds of world time.")
    ]
    wait_reason: Annotated[
        str | None, doc("What the operation is waiting for; null once it has ended.")
    ]


class OperationSpan(ControlMessage, frozen=True, kw_only=True):
    """A period that an operation spent in one state and phase."""

    state: Annotated[str, doc("The state.")]
    phase: Annotated[str, doc("The phase.")]
    stuck: Annotated[bool, doc("Whether the operation was stuck.")]
    from_: Annotated[str, doc("The world time at which the period began.")] = field(name="from")
    to: Annotated[
        str | None,
        doc(
            "The world time at which the period ended; null for the current period of an "
            "unfinished operation."
        ),
    ]


class OperationHistory(OperationName, frozen=True, kw_only=True):
    """An operation and its history."""

    spans: Annotated[
        list[OperationSpan], doc("The operation's past and current states, oldest first.")
    ]


class Timeline(ControlMessage, frozen=True, kw_only=True):
    """The newest operations with their histories."""

    now: Annotated[str, doc("The current world time.")]
    total: Annotated[int, doc("The number of operations in the world.")]
    items: Annotated[list[OperationHistory], doc("The operations, newest first.")]


class NextStep(ControlMessage, frozen=True, kw_only=True):
    """An operation's next event."""

    at: Annotated[str, doc("The world time at which the event is due.")]
    event: Annotated[str, doc("What happens when the event is due.")]


class Why(ControlMessage, frozen=True, kw_only=True):
    """An explanation of an operation's state. In Python, `str()` returns the full explanation."""

    operation: Annotated[str, doc("The id of the operation.")]
    kind: Annotated[str, doc("The kind of operation.")]
    project: Annotated[str, doc("The alias of the operation's project.")]
    state: Annotated[str, doc("The state of the operation.")]
    finished: Annotated[bool, doc("Whether the operation has ended.")]
    phase: Annotated[str, doc("The phase of the operation.")]
    reconciliation: Annotated[
        str | None, doc("The state of the reconciliation; null if there is none.")
    ]
    at: Annotated[str, doc("The current world time.")]
    sentences: Annotated[list[str], doc("The sentences of the explanation.")]
    next: Annotated[
        NextStep | None, doc("The next event; null if the operation does not advance on its own.")
    ]
    waits_for: Annotated[
        str | None,
        doc("The id of the operation that must end first; null if there is none."),
    ]
    held_by: Annotated[str | None, doc("What is holding the operation up; null if nothing is.")]
    commands: Annotated[list[str], doc("Commands that advance the operation.")]

    def __str__(self) -> str:
        title = f"{self.kind} of {self.project} ({self.operation}) is {self.state}"
        if self.phase not in (self.state, "done"):
            title += f" ({self.phase})"
        lines = [f"{title} at {self.at}"]
        lines += [f"  {sentence}" for sentence in self.sentences]
        if self.next is not None:
            lines.append(f"  next, at {self.next.at}: {self.next.event}")
        lines += [f"  try: {command}" for command in self.commands]
        return "\n".join(lines)
