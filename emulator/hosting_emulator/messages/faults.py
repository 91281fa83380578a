"""Messages about a world's faults, outcomes and interventions, and about their effects so far."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc

S = TypeVar("S", bound=ControlMessage)
#: The kinds of entries that a judge can protect.
ProtectedKind: TypeAlias = Literal["fault", "outcome", "intervention"]
#: The name of the member whose content is merged into the JSON form of its message.
WRITTEN = "written"
Written = Annotated[
    JsonObject,
    doc("The definition as in a scenario: the effect, the match, and when to act."),
]

Optional = Annotated[
    bool | None, doc("True if a story may pass even if the fault or outcome never acts.")
]


class EntryCounts(ControlMessage, frozen=True, kw_only=True):
    """The counts of a fault, an outcome or a timeline entry.

    Each count of a timeline entry is 0 until the entry acts, and 1 afterwards.
    """

    id: Annotated[
        str, doc("The entry's id: `fault-1`, `outcome-1`, or `timeline[0]` in the timeline.")
    ]
    kind: Annotated[str, doc("The kind of fault, outcome or intervention.")]
    optional: Annotated[bool, doc("True if a story may pass even if the entry never acts.")]
    considered: Annotated[int, doc("The number of requests that were compared with the entry.")]
    seen: Annotated[int, doc("The number of requests that the entry matched.")]
    hits: Annotated[int, doc("The number of requests on which the entry acted.")]
    unused: Annotated[
        str | None, doc("The reason why the entry has not acted yet; null once it has acted.")
    ]


class Trigger(EntryCounts, frozen=True, kw_only=True):
    """A fault, an outcome or a timeline entry, with its counts and what it waits for."""

    type: Annotated[
        Literal["fault", "outcome", "timeline entry"],
        doc("Whether the trigger is a fault, an outcome or a timeline entry."),
    ]
    effect: Annotated[
        str, doc("What the trigger does, in words, with `…` for a list or a mapping.")
    ]
    spent: Annotated[bool, doc("Whether the trigger is used up.")]
    waits_for: Annotated[
        str | None, doc("What the trigger waits for, in words; null once the wait is over.")
    ]
    result: Annotated[
        str | None,
        doc(
            "What a timeline entry did, or why the entry was refused. Null before the entry is due, "
            "and for faults and outcomes."
        ),
    ]


class OutcomeState(ControlMessage, frozen=True, kw_only=True):
    """An armed outcome: its definition and its counts."""

    id: Annotated[str, doc("The id of the outcome.")]
    order: Annotated[int, doc("The outcome's position among the outcomes of the world.")]
    written: Written
    optional: Optional = None
    armed_at: Annotated[str, doc("When the outcome was armed, in world time.")]
    considered: Annotated[
        int,
        doc("The number of requests to start an operation against which the outcome was checked."),
    ]
    seen: Annotated[int, doc("The number of operations that the outcome matched.")]
    hits: Annotated[
        int,
        doc(
            "The number of operations to which the outcome applies. With `while`, the number of "
            "operations on which the outcome acted."
        ),
    ]
    spent: Annotated[bool, doc("Whether the outcome is used up.")]
    unused: Annotated[
        str | None,
        doc(
            "The reason why the outcome has changed no operation yet; null once it has changed one."
        ),
    ]
    note: Annotated[
        str | None,
        doc(
            "Notes about operations on which the outcome cannot act, and about where a client sees "
            "the outcome's effect."
        ),
    ] = None
    protected: Annotated[
        bool | None,
        doc(
            "True if a judge, such as `explore`, armed the outcome. Clients cannot remove a protected "
            "outcome."
        ),
    ] = None


class FaultState(ControlMessage, frozen=True, kw_only=True):
    """An armed fault: its definition and its counts."""

    id: Annotated[str, doc("The id of the fault.")]
    order: Annotated[int, doc("The fault's position among the faults of the world.")]
    written: Written
    after_commit: Annotated[
        bool | None,
        doc(
            "Whether the fault acts after the call has changed the world, or before. Null for a fault "
            "that alters the response, makes a read stale, or delivers the request twice."
        ),
    ]
    optional: Optional = None
    armed_at: Annotated[str, doc("When the fault was armed, in world time.")]
    considered: Annotated[int, doc("The number of requests that were checked against the fault.")]
    seen: Annotated[int, doc("The number of requests that the fault matched.")]
    hits: Annotated[int, doc("The number of requests on which the fault acted.")]
    spent: Annotated[bool, doc("Whether the fault is used up.")]
    unused: Annotated[
        str | None, doc("The reason why the fault has not acted yet; null once it has acted.")
    ]
    note: Annotated[
        str | None, doc("The fault's effects outside its world; absent if there are none.")
    ] = None
    protected: Annotated[
        bool | None,
        doc(
            "True if a judge, such as `explore`, armed the fault. Clients cannot remove a protected "
            "fault."
        ),
    ] = None


class ProtectedFaultState(ControlMessage, frozen=True, kw_only=True):
    """A fault, outcome or intervention that a judge keeps in worlds and that clients cannot remove."""

    id: Annotated[str, doc("The id of the entry.")]
    worlds: Annotated[
        list[str] | None, doc("The names of the worlds that have the entry; null for all worlds.")
    ]
    kind: Annotated[
        ProtectedKind, doc("Whether the entry is a fault, an outcome or an intervention.")
    ]
    seen: Annotated[
        int,
        doc(
            "The number of matching requests in all worlds. For an intervention, the number of "
            "times that it was applied."
        ),
    ]
    hits: Annotated[
        int,
        doc(
            "The number of requests on which the fault or outcome acted, in all worlds. For an "
            "intervention, the number of times that it was applied."
        ),
    ]


class FaultsRemoved(ControlMessage, frozen=True, kw_only=True):
    """The number of removed faults or outcomes."""

    removed: Annotated[int, doc("The number of removed entries.")]


class InterventionDone(ControlMessage, frozen=True, kw_only=True):
    """The result of an intervention."""

    intervention: Annotated[str, doc("The name of the intervention.")]
    message: Annotated[str, doc("What the intervention did, in one sentence.")]


class FaultEffect(ControlMessage, frozen=True, kw_only=True):
    """A kind of fault or outcome."""

    kind: Annotated[str, doc("The name of the kind.")]
    about: Annotated[str, doc("What the fault or outcome does.")]
    options: Annotated[list[str], doc("The names of the options.")]
    example: Annotated[JsonObject, doc("An example of the options.")]


class FaultKinds(ControlMessage, frozen=True, kw_only=True):
    """The kinds of faults or outcomes, and the fields of their matches and conditions."""

    effects: Annotated[list[FaultEffect], doc("The kinds.")]
    matches: Annotated[dict[str, str], doc("The meaning of each field of a match.")]
    conditions: Annotated[
        dict[str, str], doc("The meaning of each field that determines when to act.")
    ]
    while_: Annotated[
        dict[str, str], doc("The meaning of each condition on the world that `while` accepts.")
    ] = msgspec.field(name="while")


class InterventionField(ControlMessage, frozen=True, kw_only=True):
    """A field of an intervention."""

    name: Annotated[str, doc("The name of the field.")]
    required: Annotated[bool, doc("Whether the field is required.")]


class InterventionRow(ControlMessage, frozen=True, kw_only=True):
    """An intervention, which changes a world from outside the contract."""

    name: Annotated[str, doc("The name of the intervention.")]
    about: Annotated[str, doc("What the intervention does.")]
    fields: Annotated[list[InterventionField], doc("The fields of the intervention.")]
    example: Annotated[JsonObject, doc("An example of the fields.")]


class VariationPoint(ControlMessage, frozen=True, kw_only=True):
    """A point that the contract leaves open, and the calls whose responses vary there."""

    id: Annotated[str, doc("The name of the point.")]
    about: Annotated[str, doc("What varies.")]
    sentence: Annotated[str, doc("The sentence of the contract that leaves the point open.")]
    lasts_for: Annotated[
        str, doc("The scope within which the choice stays the same, such as the world.")
    ]
    calls: Annotated[list[str], doc("The calls whose responses vary; empty for all calls.")]
    assumptions: Annotated[list[str], doc("The assumptions whose values are drawn at this point.")]


def merge_written(state: FaultState | OutcomeState) -> JsonObject:
    """Return a state as a JSON object that contains the members of `written` directly."""
    merged: JsonObject = {}
    absent = {field.name for field in msgspec.structs.fields(state) if not field.required}
    for name, value in msgspec.structs.asdict(state).items():
        if name == WRITTEN:
            merged |= value
        elif value is not None or name not in absent:
            merged[name] = value
    return merged


def split_written(document: JsonObject, kind: type[S]) -> JsonObject:
    """Return a copy in which `written` contains all members that `kind` does not declare."""
    declared = kind.__struct_encode_fields__
    written = {name: value for name, value in document.items() if name not in declared}
    return {**document, WRITTEN: written}
