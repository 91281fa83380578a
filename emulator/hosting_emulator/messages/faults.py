"""Messages about a world's faults, outcomes and interventions, and about their effects so far."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc

S = TypeVar("S", bound=ControlMessage)
#: The kinds of entries that a judge can protect.
ProtectedKind: TypeAlias = Literal["fault", "outcome", "intervention"]
#: The name of the member whose content is merged into the message in JSON.
WRITTEN = "written"
Written = Annotated[
    JsonObject,
    doc("The definition in the form of a scenario: the effect, the match, and when it acts."),
]

Optional = Annotated[bool | None, doc("True if the fault or outcome is allowed never to act.")]


class EntryCounts(ControlMessage, frozen=True, kw_only=True):
    """The counts of a fault, an outcome or a timeline entry."""

    id: Annotated[str, doc("Its id: `fault-1`, `outcome-1`, or `timeline[0]` for the first entry.")]
    kind: Annotated[str, doc("The kind of fault, outcome or intervention.")]
    optional: Annotated[bool, doc("Whether it is allowed never to act.")]
    considered: Annotated[int, doc("The number of requests that were compared with it.")]
    seen: Annotated[int, doc("The number of requests that it matched.")]
    hits: Annotated[int, doc("The number of requests that it acted on.")]
    unused: Annotated[
        str | None, doc("The reason why it has not acted yet; null once it has acted.")
    ]


class Trigger(EntryCounts, frozen=True, kw_only=True):
    """A fault, an outcome or a timeline entry that waits to act, with its counts."""

    type: Annotated[
        Literal["fault", "outcome", "timeline entry"],
        doc("Whether it is a fault, an outcome or an intervention."),
    ]
    effect: Annotated[str, doc("What it does, in words; lists and mappings are left out.")]
    spent: Annotated[bool, doc("Whether the fault is used up.")]
    waits_for: Annotated[
        str | None, doc("What it waits for, in words; null once it waits for nothing more.")
    ]
    result: Annotated[
        str | None,
        doc("What a timeline entry did, or why it was refused; null before, and for the others."),
    ]


class OutcomeState(ControlMessage, frozen=True, kw_only=True):
    """An armed outcome: its definition and its counts."""

    id: Annotated[str, doc("The id of the outcome.")]
    order: Annotated[int, doc("Its position among the outcomes of the world.")]
    written: Written
    optional: Optional = None
    armed_at: Annotated[str, doc("When it was armed, in world time.")]
    considered: Annotated[int, doc("The number of operations that started while it was armed.")]
    seen: Annotated[int, doc("The number of these operations that it matched.")]
    hits: Annotated[
        int,
        doc("The number of operations that it applies to. With `while`, those on which it acted."),
    ]
    spent: Annotated[bool, doc("Whether the outcome is used up.")]
    unused: Annotated[
        str | None, doc("The reason why it has not changed an operation yet; null once it has.")
    ]
    note: Annotated[
        str | None, doc("Operations on which it cannot act, and where a client sees its effect.")
    ] = None
    protected: Annotated[
        bool | None,
        doc("True for an outcome that a judge such as explore armed. It cannot be removed here."),
    ] = None


class FaultState(ControlMessage, frozen=True, kw_only=True):
    """An armed fault: its definition and its counts."""

    id: Annotated[str, doc("The id of the fault.")]
    order: Annotated[int, doc("Its position among the faults of the world.")]
    written: Written
    phase: Annotated[
        Literal["before_commit", "after_commit"] | None,
        doc(
            "Whether it acts before or after the call changes the world. Null for a fault that "
            "changes the call's response or what a read shows, or delivers the request twice."
        ),
    ]
    optional: Optional = None
    armed_at: Annotated[str, doc("When it was armed, in world time.")]
    considered: Annotated[int, doc("The number of requests that were compared with it.")]
    seen: Annotated[int, doc("The number of requests that it matched.")]
    hits: Annotated[int, doc("The number of requests that it acted on.")]
    spent: Annotated[bool, doc("Whether the fault is used up.")]
    unused: Annotated[
        str | None, doc("The reason why it has not acted yet; null once it has acted.")
    ]
    note: Annotated[str | None, doc("The fault's effects outside its world, if it has any.")] = None
    protected: Annotated[
        bool | None,
        doc("True for a fault that a judge such as explore armed. It cannot be removed here."),
    ] = None


class ProtectedFaultState(ControlMessage, frozen=True, kw_only=True):
    """A fault, outcome or intervention that a judge maintains in worlds. Clients cannot remove it."""

    id: Annotated[str, doc("The id of the protected fault.")]
    worlds: Annotated[list[str] | None, doc("The worlds that have it; null for every world.")]
    kind: Annotated[ProtectedKind, doc("Whether it is a fault, an outcome or an intervention.")]
    seen: Annotated[
        int,
        doc(
            "The number of requests in all worlds that it matched. For an intervention, the "
            "number of worlds in which it was possible."
        ),
    ]
    hits: Annotated[
        int,
        doc(
            "The number of requests in all worlds that it acted on. For an intervention, the "
            "number of worlds in which it was possible."
        ),
    ]


class FaultsRemoved(ControlMessage, frozen=True, kw_only=True):
    """The number of removed faults or outcomes."""

    removed: Annotated[int, doc("The number of removed entries.")]


class InterventionDone(ControlMessage, frozen=True, kw_only=True):
    """The report of an intervention."""

    intervention: Annotated[str, doc("The name of the intervention.")]
    message: Annotated[str, doc("What it did, in one sentence.")]


class FaultEffect(ControlMessage, frozen=True, kw_only=True):
    """A kind of fault or outcome."""

    kind: Annotated[str, doc("The name of the kind.")]
    about: Annotated[str, doc("What it does.")]
    options: Annotated[list[str], doc("The names of its options.")]
    example: Annotated[JsonObject, doc("An example of its options.")]


class FaultKinds(ControlMessage, frozen=True, kw_only=True):
    """The kinds of faults or outcomes, the requests that they can match, and when they can act."""

    effects: Annotated[list[FaultEffect], doc("The kinds.")]
    matches: Annotated[dict[str, str], doc("The meaning of each field of a match.")]
    conditions: Annotated[dict[str, str], doc("The meaning of each field that sets when to act.")]
    while_: Annotated[
        dict[str, str], doc("The meaning of each condition on the world that `while` accepts.")
    ] = msgspec.field(name="while")


class InterventionField(ControlMessage, frozen=True, kw_only=True):
    """A field of an intervention."""

    name: Annotated[str, doc("The name of the field.")]
    required: Annotated[bool, doc("Whether the field is required.")]


class InterventionRow(ControlMessage, frozen=True, kw_only=True):
    """A change of a world from outside the contract."""

    name: Annotated[str, doc("The name of the intervention.")]
    about: Annotated[str, doc("What it does.")]
    fields: Annotated[list[InterventionField], doc("Its fields.")]


class VariationPoint(ControlMessage, frozen=True, kw_only=True):
    """A freedom that the contract leaves, and the calls whose responses it varies."""

    id: Annotated[str, doc("The name of the point.")]
    about: Annotated[str, doc("What varies.")]
    sentence: Annotated[str, doc("The sentence of the contract that leaves this freedom.")]
    calls: Annotated[list[str], doc("The calls whose responses vary; none for every call.")]
    assumptions: Annotated[list[str], doc("The assumptions that the point draws.")]


def merge_written(state: FaultState | OutcomeState) -> JsonObject:
    """Return the JSON form of a state, in which the written definition is merged into the members."""
    merged: JsonObject = {}
    absent = {field.name for field in msgspec.structs.fields(state) if not field.required}
    for name, value in msgspec.structs.asdict(state).items():
        if name == WRITTEN:
            merged |= value
        elif value is not None or name not in absent:
            merged[name] = value
    return merged


def split_written(document: JsonObject, kind: type[S]) -> JsonObject:
    """Move all members that `kind` does not declare into the member `written`."""
    declared = kind.__struct_encode_fields__
    written = {name: value for name, value in document.items() if name not in declared}
    return {**document, WRITTEN: written}
