"""Operations of a world: where each is, the states it went through, and why it is there."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from hosting_emulator.messages.declaration import ControlMessage, doc


class OperationName(ControlMessage, frozen=True, kw_only=True):
    """An operation's summary."""

    id: Annotated[str, doc("The id of the operation.")]
    kind: Annotated[str, doc("The kind of operation.")]
    project: Annotated[str, doc("The alias of the operation's project.")]
    state: Annotated[str, doc("The state of the operation.")]


class OperationState(OperationName, frozen=True, kw_only=True):
    """An operation and where it is."""

    phase: Annotated[str, doc("The phase of the operation.")]
    stuck: Annotated[bool, doc("Whether the operation is stuck.")]
    created_at: Annotated[str, doc("When the operation was created, in world time.")]
    updated_at: Annotated[str, doc("When the operation last changed, in world time.")]


class OperationSpan(ControlMessage, frozen=True, kw_only=True):
    """A state that an operation was in."""

    state: Annotated[str, doc("The state.")]
    phase: Annotated[str, doc("The phase.")]
    stuck: Annotated[bool, doc("Whether the operation was stuck.")]
    from_: Annotated[str, doc("When the operation entered this state.")] = field(name="from")
    to: Annotated[str | None, doc("When the operation left this state; null while it is in it.")]


class OperationHistory(OperationName, frozen=True, kw_only=True):
    """An operation and the states that it went through."""

    spans: Annotated[list[OperationSpan], doc("The states, oldest first.")]


class Timeline(ControlMessage, frozen=True, kw_only=True):
    """The newest operations with the states that they went through."""

    now: Annotated[str, doc("World time.")]
    total: Annotated[int, doc("How many operations the world has.")]
    items: Annotated[list[OperationHistory], doc("The newest operations, newest first.")]


class NextStep(ControlMessage, frozen=True, kw_only=True):
    """An operation's next event."""

    at: Annotated[str, doc("When the event is due, in world time.")]
    event: Annotated[str, doc("What happens then.")]


class Why(ControlMessage, frozen=True, kw_only=True):
    """Explains an operation's state; in Python, `str()` is the full explanation."""

    operation: Annotated[str, doc("The id of the operation.")]
    kind: Annotated[str, doc("The kind of operation.")]
    project: Annotated[str, doc("The alias of the operation's project.")]
    state: Annotated[str, doc("The state of the operation.")]
    finished: Annotated[bool, doc("Whether the operation has ended.")]
    phase: Annotated[str, doc("The phase of the operation.")]
    reconciliation: Annotated[
        str | None, doc("The state of the reconciliation; null if there is none.")
    ]
    at: Annotated[str, doc("World time.")]
    sentences: Annotated[list[str], doc("The explanation, in sentences.")]
    next: Annotated[NextStep | None, doc("The next event; null if time alone moves nothing.")]
    waits_for: Annotated[
        str | None, doc("The id of the operation that must end first; null if none must.")
    ]
    held_by: Annotated[str | None, doc("What keeps the operation; null if nothing does.")]
    commands: Annotated[list[str], doc("Commands that move the operation on.")]

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
