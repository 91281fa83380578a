"""Faults, outcomes and interventions of a world: what is armed, and what became of it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc

S = TypeVar("S", bound=ControlMessage)
#: What a judge can protect.
ProtectedKind: TypeAlias = Literal["fault", "outcome", "intervention"]
#: The member of a message whose own members stand beside the others in JSON.
WRITTEN = "written"
Written = Annotated[
    JsonObject,
    doc("What was armed, as in a scenario: the effect, what it matches and when it acts."),
]

Optional = Annotated[bool | None, doc("True if it is no mistake when this never acts.")]


class EntryCounts(ControlMessage, frozen=True, kw_only=True):
    """The counts of a fault or an outcome."""

    id: Annotated[str, doc("The id of the fault or outcome.")]
    kind: Annotated[str, doc("The kind of fault or outcome.")]
    optional: Annotated[bool, doc("Whether it may never act.")]
    considered: Annotated[int, doc("How many requests were compared with it.")]
    seen: Annotated[int, doc("How many requests it matched.")]
    hits: Annotated[int, doc("How many requests it acted on.")]
    unused: Annotated[str | None, doc("Why it has never acted; null once it has.")]


class OutcomeState(ControlMessage, frozen=True, kw_only=True):
    """An armed outcome and its counts, beside what was written."""

    id: Annotated[str, doc("The id of the outcome.")]
    order: Annotated[int, doc("Its position among the outcomes of the world.")]
    written: Written
    optional: Optional = None
    armed_at: Annotated[str, doc("When it was armed, in world time.")]
    considered: Annotated[int, doc("How many operations began while it was armed.")]
    seen: Annotated[int, doc("How many of these operations it matched.")]
    hits: Annotated[int, doc("How many operations it applies to.")]
    spent: Annotated[bool, doc("Whether it applies to no more operations.")]
    unused: Annotated[str | None, doc("Why it has changed no operation yet; null once it has.")]
    protected: Annotated[
        bool | None,
        doc("True for an outcome of a judge, such as explore, which cannot be removed here."),
    ] = None


class FaultState(ControlMessage, frozen=True, kw_only=True):
    """An armed fault and its counts, beside what was written: effect, match, times."""

    id: Annotated[str, doc("The id of the fault.")]
    order: Annotated[int, doc("Its position among the faults of the world.")]
    written: Written
    phase: Annotated[
        Literal["before_commit", "after_commit"] | None,
        doc(
            "Whether it acts before or after the call changes the world. A fault that changes the "
            "call's response, or delivers the request twice, has no phase: null."
        ),
    ]
    optional: Optional = None
    armed_at: Annotated[str, doc("When it was armed, in world time.")]
    considered: Annotated[int, doc("How many requests were compared with it.")]
    seen: Annotated[int, doc("How many requests it matched.")]
    hits: Annotated[int, doc("How many requests it acted on.")]
    spent: Annotated[bool, doc("Whether it acts no more.")]
    unused: Annotated[str | None, doc("Why it has never acted; null once it has.")]
    note: Annotated[str | None, doc("What it acts on beside its world, if it does.")] = None
    protected: Annotated[
        bool | None,
        doc("True for a fault of a judge, such as explore, which cannot be removed here."),
    ] = None


class ProtectedFaultState(ControlMessage, frozen=True, kw_only=True):
    """A fault, outcome or intervention that a judge keeps in worlds. Clients cannot remove it."""

    id: Annotated[str, doc("The id of the protected fault.")]
    worlds: Annotated[list[str] | None, doc("The worlds that have it; null for every world.")]
    kind: Annotated[ProtectedKind, doc("What it is.")]
    seen: Annotated[
        int,
        doc(
            "How many requests of all worlds it matched. For an intervention: in how many worlds "
            "it was possible."
        ),
    ]
    hits: Annotated[
        int,
        doc(
            "How many requests of all worlds it acted on. For an intervention: in how many worlds "
            "it was possible."
        ),
    ]


class FaultsRemoved(ControlMessage, frozen=True, kw_only=True):
    """How many faults or outcomes were removed."""

    removed: Annotated[int, doc("How many were removed.")]


class InterventionDone(ControlMessage, frozen=True, kw_only=True):
    """What an intervention did."""

    intervention: Annotated[str, doc("The name of the intervention.")]
    message: Annotated[str, doc("What it did, in one sentence.")]


class FaultEffect(ControlMessage, frozen=True, kw_only=True):
    """What a kind of fault or outcome can do."""

    kind: Annotated[str, doc("The name of the kind.")]
    about: Annotated[str, doc("What it does.")]
    options: Annotated[list[str], doc("The names of its options.")]
    example: Annotated[JsonObject, doc("An example of its options.")]


class FaultKinds(ControlMessage, frozen=True, kw_only=True):
    """What a fault or outcome can do, what it can match and when it acts."""

    effects: Annotated[list[FaultEffect], doc("The kinds.")]
    matches: Annotated[dict[str, str], doc("What each field for a match means.")]
    conditions: Annotated[dict[str, str], doc("What each field for the time to act means.")]
    while_: Annotated[
        dict[str, str], doc("What each condition on the world means that `while` takes.")
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
    """A freedom that the contract leaves, and which responses it varies."""

    id: Annotated[str, doc("The name of the point.")]
    about: Annotated[str, doc("What varies.")]
    sentence: Annotated[str, doc("The sentence of the contract that leaves this freedom.")]
    calls: Annotated[list[str], doc("The calls whose responses vary; none for every call.")]
    assumptions: Annotated[list[str], doc("The assumptions that the point draws.")]


def merge_written(state: FaultState | OutcomeState) -> JsonObject:
    """Return the state as JSON has it: what was written stands beside the other members."""
    merged: JsonObject = {}
    absent = {field.name for field in msgspec.structs.fields(state) if not field.required}
    for name, value in msgspec.structs.asdict(state).items():
        if name == WRITTEN:
            merged |= value
        elif value is not None or name not in absent:
            merged[name] = value
    return merged


def split_written(document: JsonObject, kind: type[S]) -> JsonObject:
    """Return JSON of a `kind` with all members that the kind does not declare in `written`."""
    declared = kind.__struct_encode_fields__
    written = {name: value for name, value in document.items() if name not in declared}
    return {**document, WRITTEN: written}
