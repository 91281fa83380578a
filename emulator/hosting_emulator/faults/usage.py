"""Counts, for each armed fault or outcome, the requests for which it was considered.

This module also remembers the request that came closest to triggering each fault or outcome.

This usage data is stored outside the world value, because checking a request against an entry does
not have to change the world. A rewind therefore does not change the usage data, and a fork starts
without any. The numbers of matches and hits, however, are part of the world (`Fault.seen`,
`Fault.hits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from hosting_emulator.faults.decisions import Decision, faults_in_order, idle_reason
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.faults.matching import FaultSubject
from hosting_emulator.faults.nearest_requests import (
    Difference,
    NearestRequest,
    find_differences,
)
from hosting_emulator.faults.outcome_checks import find_obstacle
from hosting_emulator.faults.outcomes import outcome_of
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.tables import FAULTS, OUTCOMES
from hosting_emulator.world.value import World

NO_REASONS: Mapping[str, str] = MappingProxyType({})


class EntryUsage:
    """The usage data of one fault or outcome, which is not part of the world."""

    __slots__ = ("considered", "nearest")

    def __init__(self) -> None:
        self.considered = 0
        self.nearest: NearestRequest | None = None


class UsageCounter:
    """The usage data of all faults and outcomes in one world, and the entries that were removed."""

    def __init__(self) -> None:
        self._entries: dict[str, EntryUsage] = {}
        #: Removed entries by id, in the state in which they were removed.
        self.removed: dict[str, Fault] = {}

    def of(self, entry_id: str) -> EntryUsage:
        """Return the usage data of an entry, which is empty for an unknown entry."""
        return self._entries.get(entry_id) or EntryUsage()

    def observe_removals(self, before: World, writes: Mapping[str, Any]) -> None:
        """Remember the entries that a commit removes from a world."""
        for table in (FAULTS, OUTCOMES):
            for entry_id, record in writes.get(table.name, {}).items():
                removed = before.get(table, entry_id)
                if record is None and removed is not None:
                    self.removed[entry_id] = removed

    def observe_faults(
        self,
        faults: Iterable[Fault],
        world: World,
        subject: FaultSubject,
        decision: Decision,
        now_ms: int,
        number: int | None,
        *,
        refused: bool,
        reasons: Mapping[str, str] = NO_REASONS,
        ended_by: str = "",
    ) -> None:
        """Count a request for the faults in one stage, in order.

        `world` is the world after the decision, so its faults have already counted the request.
        `reasons` maps the id of each matching fault that did not act to the reason. `ended_by` is
        the id of the fault that ended the search in an earlier stage, or an empty string if none
        did.
        """
        acted = {fault.id for fault in decision.acted}
        for fault in faults:
            usage = self._entries.setdefault(fault.id, EntryUsage())
            if not ended_by:
                usage.considered += 1
            if fault.id in acted:
                if decision.effect is not None and fault.id == decision.acted[-1].id:
                    ended_by = fault.id
                continue
            if fault.hits or _has_nearer(usage, fault, subject):
                continue
            differences = find_differences(world, fault, subject)
            reason = ""
            if not differences and fault.id in reasons:
                reason = reasons[fault.id]
            elif not differences:
                counted = world.get(FAULTS, fault.id) or fault
                reason = _fault_reason(counted, world, subject, now_ms, ended_by, refused=refused)
            _keep_nearer(usage, subject, number, differences, reason)

    def observe_outcomes(
        self,
        before: World,
        subject: FaultSubject,
        applied_id: str | None,
        now_ms: int,
        number: int,
        *,
        refused: bool,
    ) -> None:
        """For all outcomes that are armed in `before`, count a request that starts an operation.

        `applied_id` is the id of the outcome that was applied to the operation, or None if none
        was.
        """
        ended = False
        for outcome in faults_in_order(before, OUTCOMES):
            usage = self._entries.setdefault(outcome.id, EntryUsage())
            if not ended:
                usage.considered += 1
            applied = outcome.id == applied_id
            if (applied and not refused) or outcome.hits:
                ended = ended or applied
                continue
            differences = _outcome_differences(before, outcome, subject)
            reason = ""
            if applied:
                reason = "the request was refused, so it did not start an operation"
            elif not differences and ended:
                reason = f"{applied_id} was applied to the operation first"
            elif not differences:
                counted = replace(outcome, seen=outcome.seen + 1)
                reason = idle_reason(counted, now_ms, before, subject.project, subject.organization)
            _keep_nearer(usage, subject, number, differences, reason)
            ended = ended or applied


def _outcome_differences(
    world: World, outcome: Fault, subject: FaultSubject
) -> tuple[Difference, ...]:
    """Return the differences between a request and an outcome.

    If the outcome can never act on the operation, that counts as a difference.
    """
    differences = find_differences(world, outcome, subject)
    if differences:
        return differences
    kind = outcome_of(outcome)
    applied = kind.operation_outcome(outcome.id, subject.call, outcome.rule.while_)
    if applied is None:
        return (Difference("phase", kind.at, f"{subject.call} has no such phase"),)
    obstacle = find_obstacle(applied, subject.call, world.assumptions)
    if obstacle is None:
        return ()
    return (Difference(obstacle.option, kind.name, obstacle.reason),)


def _has_nearer(usage: EntryUsage, fault: Fault, subject: FaultSubject) -> bool:
    """Return whether the stored request is certain to be nearer, without comparing all fields."""
    nearest = usage.nearest
    if nearest is None or nearest.distance > 1:
        return False
    return fault.rule.call not in (None, subject.call)


def _keep_nearer(
    usage: EntryUsage,
    subject: FaultSubject,
    number: int | None,
    differences: tuple[Difference, ...],
    reason: str,
) -> None:
    nearer = NearestRequest(number, subject.method, subject.path, differences, reason)
    nearest = usage.nearest
    # Prefer the latest matching request, which has the most up-to-date counts.
    if nearest is None or nearer.distance < nearest.distance or not differences:
        usage.nearest = nearer


def _fault_reason(
    fault: Fault,
    world: World,
    subject: FaultSubject,
    now_ms: int,
    ended_by: str,
    *,
    refused: bool,
) -> str:
    """Return the reason why a fault that matched a request did not act on it."""
    if ended_by:
        return f"{ended_by} acted first"
    if fault.skips_replays and subject.replayed:
        return "the response was a replay"
    if stage_of(fault) == "upload" and not subject.has_body:
        return "the request has no body"
    if refused:
        return (
            "the request was refused, but an after_commit fault acts only on a successful request"
        )
    return idle_reason(fault, now_ms, world, subject.project, subject.organization)
