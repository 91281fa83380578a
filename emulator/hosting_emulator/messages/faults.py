"""Messages about a world's faults, outcomes and interventions, and what these have done."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc

S = TypeVar("S", bound=ControlMessage)
#: The kinds of entries that a judge can protect from removal.
ProtectedKind: TypeAlias = Literal["fault", "outcome", "intervention"]
#: The name of the member that is flattened: in JSON, its content appears among the other members of
#: the message.
WRITTEN = "written"
Written = Annotated[
    JsonObject,
    doc("The definition, as written in a scenario: the effect, the match, and when to act."),
]

Optional = Annotated[
    bool | None, doc("True if a story can pass even if the fault or outcome never acts.")
]


class EntryCounts(ControlMessage, frozen=True, kw_only=True):
    """The counts of a fault, an outcome or a timeline entry."""

    id: Annotated[
        str, doc("The entry's id: `fault-1`, `outcome-1`, or `timeline[0]` in the timeline.")
    ]
    kind: Annotated[str, doc("The kind of fault, outcome or intervention.")]
    optional: Annotated[bool, doc("True if a story can pass even if the entry never acts.")]
    considered: Annotated[
        int,
        doc(
            "The number of requests that were checked against the entry. For a timeline entry, 0 until "
            "it acts, and 1 after that."
        ),
    ]
    seen: Annotated[
        int,
        doc(
            "The number of requests or, for an outcome, operations that the entry matched. For a "
            "timeline entry, 0 until it acts, and 1 after that."
        ),
    ]
    hits: Annotated[
        int,
        doc(
            "The number of requests or, for an outcome, operations on which the entry acted. For a "
            "timeline entry, 0 until it acts, and 1 after that."
        ),
    ]
    unused: Annotated[
        str | None,
        doc(
            "Why the entry has not acted yet. Null once it has acted or, for a timeline entry, once "
            "it was refused."
        ),
    ]


class Trigger(EntryCounts, frozen=True, kw_only=True):
    """A fault, an outcome or a timeline entry, with its counts and what it is waiting for."""

    type: Annotated[
        Literal["fault", "outcome", "timeline entry"],
        doc("Whether the trigger is a fault, an outcome or a timeline entry."),
    ]
    effect: Annotated[
        str, doc("What the trigger does, in words. Lists and mappings are abbreviated to `…`.")
    ]
    spent: Annotated[bool, doc("Whether the trigger is used up.")]
    waits_for: Annotated[
        str | None, doc("What the trigger is waiting for, in words; null if it is not waiting.")
    ]
    result: Annotated[
        str | None,
        doc(
            "For a timeline entry, what it did or why it was refused. Null until the entry is "
            "due, and always null for faults and outcomes."
        ),
    ]


class OutcomeState(ControlMessage, frozen=True, kw_only=True):
    """An armed outcome: its definition and its counts."""

    id: Annotated[str, doc("The id of the outcome.")]
    order: Annotated[int, doc("The outcome's position among the outcomes in the world.")]
    written: Written
    optional: Optional = None
    armed_at: Annotated[str, doc("The world time at which the outcome was armed.")]
    considered: Annotated[
        int,
        doc("The number of operation-starting requests that were checked against the outcome."),
    ]
    seen: Annotated[int, doc("The number of operations that the outcome matched.")]
    hits: Annotated[
        int,
        doc(
            "The number of operations to which the outcome was applied. With `while`, the number "
            "of operations on which it has acted."
        ),
    ]
    spent: Annotated[bool, doc("Whether the outcome is used up.")]
    unused: Annotated[
        str | None,
        doc("Why the outcome has not changed any operation yet; null once it has changed one."),
    ]
    note: Annotated[
        str | None,
        doc(
            "Notes about operations on which the outcome cannot act, and about where a client "
            "can see its effect."
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
    order: Annotated[int, doc("The fault's position among the faults in the world.")]
    written: Written
    after_commit: Annotated[
        bool | None,
        doc(
            "True if the fault acts after the call has changed the world, and false if it acts "
            "before. Null for a fault that alters the response, makes a read stale, or delivers "
            "the request twice."
        ),
    ]
    optional: Optional = None
    armed_at: Annotated[str, doc("The world time at which the fault was armed.")]
    considered: Annotated[int, doc("The number of requests that were checked against the fault.")]
    seen: Annotated[int, doc("The number of requests that the fault matched.")]
    hits: Annotated[int, doc("The number of requests on which the fault acted.")]
    spent: Annotated[bool, doc("Whether the fault is used up.")]
    unused: Annotated[str | None, doc("Why the fault has not acted yet; null once it has acted.")]
    note: Annotated[
        str | None,
        doc(
            "For a `bad_certificate` fault without a project, a note that the fault acts on every "
            "host on the TLS port. Absent for other faults."
        ),
    ] = None
    protected: Annotated[
        bool | None,
        doc(
            "True if a judge, such as `explore`, armed the fault. Clients cannot remove a protected "
            "fault."
        ),
    ] = None


class ProtectedFaultState(ControlMessage, frozen=True, kw_only=True):
    """A fault, outcome or intervention that a judge adds to worlds and that clients cannot remove."""

    id: Annotated[str, doc("The id of the entry.")]
    worlds: Annotated[
        list[str] | None,
        doc("The names of the worlds that have the entry; null for all worlds in memory."),
    ]
    kind: Annotated[
        ProtectedKind, doc("Whether the entry is a fault, an outcome or an intervention.")
    ]
    seen: Annotated[
        int,
        doc(
            "The number of matching requests in all worlds. For an intervention, how often it "
            "was applied."
        ),
    ]
    hits: Annotated[
        int,
        doc(
            "The number of requests in all worlds on which the fault or outcome acted. For an "
            "intervention, how often it was applied."
        ),
    ]


class FaultsRemoved(ControlMessage, frozen=True, kw_only=True):
    """How many faults or outcomes were removed."""

    removed: Annotated[int, doc("The number of entries that were removed.")]


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
    """The kinds of faults or outcomes, and the fields that their matches and conditions can have."""

    effects: Annotated[list[FaultEffect], doc("The kinds.")]
    matches: Annotated[dict[str, str], doc("The meaning of each field of a match.")]
    conditions: Annotated[
        dict[str, str],
        doc("The meaning of each field that determines when a fault or outcome acts."),
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
    """A point that the contract leaves open, and the calls that can return different responses there."""

    id: Annotated[str, doc("The name of the point.")]
    about: Annotated[str, doc("What varies.")]
    sentence: Annotated[str, doc("The sentence of the contract that leaves the point open.")]
    lasts_for: Annotated[
        str, doc("The scope in which the choice stays the same, such as the world.")
    ]
    calls: Annotated[
        list[str], doc("The calls that can return different responses; empty for all calls.")
    ]
    assumptions: Annotated[list[str], doc("The assumptions for which this point draws values.")]


def merge_written(state: FaultState | OutcomeState) -> JsonObject:
    """Return a state as a JSON object, with the members of `written` at its top level."""
    merged: JsonObject = {}
    absent = {field.name for field in msgspec.structs.fields(state) if not field.required}
    for name, value in msgspec.structs.asdict(state).items():
        if name == WRITTEN:
            merged |= value
        elif value is not None or name not in absent:
            merged[name] = value
    return merged


def split_written(document: JsonObject, kind: type[S]) -> JsonObject:
    """Return a copy of a document in which all members that `kind` does not declare are moved into
    `written`.
    """
    declared = kind.__struct_encode_fields__
    written = {name: value for name, value in document.items() if name not in declared}
    return {**document, WRITTEN: written}
