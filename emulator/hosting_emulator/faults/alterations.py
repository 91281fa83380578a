"""Applies the armed `alter` faults to a response, in the order in which they were armed.

Each fault alters the result of the previous one, and no fault prevents another from acting. A fault
that matches a request but does not act still counts the request as seen, unless the response is a
replay that the fault is not allowed to alter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.allowed_changes import SentResponse
from hosting_emulator.contract.alterations import (
    Altered,
    PartChange,
    Unaltered,
    alter_response,
)
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.faults.decisions import faults_in_order, idle_reason, is_chosen
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.faults.kinds.alter import Alter
from hosting_emulator.faults.matching import FaultSubject, matches
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.streams import draw
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import Change, World

#: The name of the random stream for alterations.
_STREAM = "alterations"
_A_REPLAY = "a replay must equal the first response; write `breaking: true` to alter replays too"


class AlteredBy(msgspec.Struct, frozen=True):
    """A fault that altered a response, with the fault's new counts and the changed parts."""

    fault: Fault
    changes: tuple[PartChange, ...]


class AlterationDecision(msgspec.Struct, frozen=True):
    """A response after the armed faults have altered it.

    `reasons` maps the id of each fault that matched the request but did not act to the reason.
    """

    response: SentResponse
    acted: tuple[AlteredBy, ...]
    reasons: Mapping[str, str]


def altering_faults(world: World, *, breaking: bool) -> list[Fault]:
    """Return the armed `alter` faults whose `breaking` option has this value.

    The faults are returned in the order in which they were armed.
    """
    return [
        fault
        for fault in faults_in_order(world)
        if stage_of(fault) == "response" and _alter_of(fault).breaking == breaking
    ]


def has_altering_fault(world: World) -> bool:
    """Return whether any `alter` fault is armed."""
    faults: Iterable[Fault] = world.tables[FAULTS.name].values()
    return any(stage_of(fault) == "response" for fault in faults)


def decide_alterations(
    change: Change,
    faults: Sequence[Fault],
    subject: FaultSubject,
    spec: CallSpec,
    response: SentResponse,
) -> AlterationDecision:
    """Count a request for the given `alter` faults, and return the response as altered by them.

    `response` is the response before these faults have altered it.
    """
    acted: list[AlteredBy] = []
    reasons: dict[str, str] = {}
    for armed in faults:
        if not matches(armed.rule, subject):
            continue
        alter = _alter_of(armed)
        if subject.replayed and not alter.breaking:
            reasons[armed.id] = _A_REPLAY
            continue
        fault = change.get(FAULTS, armed.id) or armed
        fault = replace(fault, seen=fault.seen + 1)
        if not is_chosen(change, fault, subject, _STREAM):
            reasons[fault.id] = idle_reason(
                fault, change.now_ms, change.world, subject.project, subject.organization
            )
            change.put(FAULTS, fault.id, fault)
            continue
        result = _alter(change, fault, alter, subject, spec, response)
        if isinstance(result, Unaltered):
            reasons[fault.id] = result.reason
        else:
            fault = replace(fault, hits=fault.hits + 1)
            response = result.response
            acted.append(AlteredBy(fault, result.changes))
        change.put(FAULTS, fault.id, fault)
    return AlterationDecision(response, tuple(acted), reasons)


def _alter(
    change: Change,
    fault: Fault,
    alter: Alter,
    subject: FaultSubject,
    spec: CallSpec,
    response: SentResponse,
) -> Altered | Unaltered:
    """Return the response as altered by a fault, or the reason why the fault leaves it unchanged."""
    if alter.changes_lasting_part and not alter.breaking and _was_shown(fault, response):
        reason = "the operation ended before the fault was armed, so other responses show how it really ended"
        return Unaltered(reason)

    def draw_below(bound: int) -> int:
        return int.from_bytes(draw(change, _STREAM, 7), "big") % bound

    return alter_response(alter, spec, response, draw_below, replayed=subject.replayed)


def _was_shown(fault: Fault, response: SentResponse) -> bool:
    """Return whether the operation shown in a response ended before a fault was armed."""
    document = msgspec.json.decode(response.body)
    try:
        return parse_timestamp(document["updated_at"]) < fault.armed_ms
    except (KeyError, TypeError, ValueError):
        return False


def _alter_of(fault: Fault) -> Alter:
    return convert(fault.options, Alter)
