"""How often each armed fault and outcome was considered, and which request came nearest to it.

These counts are kept beside the world value. Considering an entry is not a change of the world, so
it makes no commit. A rewind leaves these counts alone, and a fork starts without them. How often an
entry matched and acted is part of the world (`Fault.seen`, `Fault.hits`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hosting_emulator.faults.categories import RECORD_TABLES
from hosting_emulator.faults.decisions import Decision, idle_reason, is_spent
from hosting_emulator.faults.matching import FaultSubject, differing_fields, request_value
from hosting_emulator.faults.outcomes import outcome_kinds, outcome_of
from hosting_emulator.messages import EntryCounts
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.tables import (
    FAULTS,
    OPERATIONS,
    OUTCOMES,
)
from hosting_emulator.world.value import World

#: Values under these names may be secrets, so no report shows them.
_SECRET = re.compile("token|secret|key|ticket|code|password|auth|cookie|verifier", re.IGNORECASE)
_LONGEST_VALUE = 60
#: A request for another call is further away than one that differs in any other single field.
_OTHER_CALL = 3


class Difference(NamedTuple):
    """A field in which a request differs from an entry, with both values as text."""

    field: str
    expected: str
    found: str


class NearestRequest(NamedTuple):
    """The request that came nearest to an entry which did not act on it.

    `number` is its number in the request log; None for a request to a page, which the log does not
    contain. `reason` says why the entry did not act on a request that matched it.
    """

    number: int | None
    method: str
    path: str
    differences: tuple[Difference, ...] = ()
    reason: str = ""

    @property
    def distance(self) -> int:
        """How far the request is from the entry: 0 for a request that matched."""
        other_call = any(difference.field == "call" for difference in self.differences)
        return len(self.differences) + (_OTHER_CALL - 1 if other_call else 0)

    def describe(self) -> str:
        """Describe the request and what kept the entry from acting on it, as the end of a sentence."""
        number = "" if self.number is None else f"number {self.number}, "
        request = f"the nearest request was {number}{self.method} {self.path}"
        if not self.differences:
            return f"{request}. It matched, but {self.reason}"
        differences = [
            f"{name} ({found} instead of {expected})" for name, expected, found in self.differences
        ]
        return f"{request}, which differs in {' and '.join(differences)}"


class EntryUsage:
    """The counts of one fault or outcome beside its world."""

    __slots__ = ("considered", "nearest")

    def __init__(self) -> None:
        self.considered = 0
        self.nearest: NearestRequest | None = None


class UsageCounter:
    """The counts of all faults and outcomes of one world, and the entries removed before they acted."""

    def __init__(self) -> None:
        self._entries: dict[str, EntryUsage] = {}
        #: Entries that were removed, as they were then, by id.
        self.removed: dict[str, Fault] = {}

    def of(self, entry_id: str) -> EntryUsage:
        """Return the counts of an entry. Those of an unknown entry are zero."""
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
    ) -> None:
        """Count a request for the faults of one commit phase, in their order.

        `world` is the world after the decision, so its faults have counted the request already.
        """
        acted = {fault.id for fault in decision.acted}
        ended_by = ""
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
            differences = _differences(world, fault, subject)
            reason = ""
            if not differences:
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
        """Count a request that begins an operation for the outcomes that were armed `before` it."""
        outcomes = sorted(before.tables[OUTCOMES.name].values(), key=lambda outcome: outcome.order)
        ended = False
        for outcome in outcomes:
            usage = self._entries.setdefault(outcome.id, EntryUsage())
            if not ended:
                usage.considered += 1
            applied = outcome.id == applied_id
            if (applied and not refused) or outcome.hits:
                ended = ended or applied
                continue
            differences = _differences(before, outcome, subject)
            kind = outcome_of(outcome)
            if not differences and kind.operation_outcome(outcome.id, subject.call) is None:
                differences = (Difference("phase", kind.at, f"{subject.call} has no such phase"),)
            reason = ""
            if applied:
                reason = "the request was refused, so it began no operation"
            elif not differences and ended:
                reason = f"{applied_id} applied to the operation first"
            elif not differences:
                reason = idle_reason(outcome, now_ms, before, subject.project, subject.organization)
            _keep_nearer(usage, subject, number, differences, reason)
            ended = ended or applied


def _has_nearer(usage: EntryUsage, fault: Fault, subject: FaultSubject) -> bool:
    """Tell without comparing all fields whether a nearer request than this one is known."""
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
    # Of several requests that matched, the latest says most: its counts are the highest.
    if nearest is None or nearer.distance < nearest.distance or not differences:
        usage.nearest = nearer


def _differences(world: World, entry: Fault, subject: FaultSubject) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, _text(world, name, _expected(entry, name)), _text(world, name, value))
        for name in differing_fields(entry.rule, subject)
        for value in [request_value(entry.rule, subject, name)]
    )


def _expected(entry: Fault, name: str) -> Any:
    if name == "credentials" and entry.rule.credentials is None:
        return "a valid token or key"
    return getattr(entry.rule, name) or "any call of the API"


def _text(world: World, name: str, value: Any) -> str:
    """Write a value of a field as people write it in a scenario."""
    if name in RECORD_TABLES:
        record: Any = world.get(RECORD_TABLES[name], value or "")
        return record.alias if record is not None else "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_shown(str(key), str(part))}" for key, part in value.items())
    return str(value)


def _shown(name: str, value: str) -> str:
    """Return a value of a header, a query or a body, unless it may be a secret or is long."""
    secret = _SECRET.search(name) is not None and name.lower() != "idempotency-key"
    return "…" if secret or len(value) > _LONGEST_VALUE else value


def _fault_reason(
    fault: Fault,
    world: World,
    subject: FaultSubject,
    now_ms: int,
    ended_by: str,
    *,
    refused: bool,
) -> str:
    """Say why a fault that matched a request did not act on it."""
    if ended_by:
        return f"{ended_by} acted first"
    if fault.skips_replays and subject.replayed:
        return "the response was a replay"
    if refused:
        return "the request was refused, and a fault after_commit acts only on an applied request"
    return idle_reason(fault, now_ms, world, subject.project, subject.organization)


# --- what has not acted ----------------------------------------------------------------------------


def unfinished_outcome(world: World, outcome: Fault) -> str | None:
    """Say why an outcome that applies to operations has changed none of them; None: it has."""
    waiting = None
    for _, operation in world.rows(OPERATIONS):
        applied = operation.outcome
        if applied is None or applied.id != outcome.id:
            continue
        if applied.steps_taken or not applied.steps:
            return None
        waiting = operation
    if waiting is None:
        return None
    phase = waiting.outcome.phase if waiting.outcome else ""
    verb = "ended as" if is_finished(waiting) else "is still"
    return f"operation {waiting.id} {verb} {waiting.state}, before the end of the phase {phase}"


def entry_usage(usage: EntryUsage, world: World, entry: Fault, now_ms: int) -> EntryCounts:
    """Return the counts of a fault or an outcome. `unused` says why it has never acted, or is None."""
    return EntryCounts(
        id=entry.id,
        kind=entry.kind,
        optional=entry.rule.optional,
        considered=usage.considered,
        seen=entry.seen,
        hits=entry.hits,
        unused=unused_reason(usage, world, entry, now_ms),
    )


def unused_reason(usage: EntryUsage, world: World, entry: Fault, now_ms: int) -> str | None:
    """Say why a fault or outcome has never acted; None: it has acted."""
    is_outcome = entry.kind in outcome_kinds()
    if entry.hits:
        return unfinished_outcome(world, entry) if is_outcome else None
    if usage.nearest is None and usage.considered:
        return "the requests that it matched were not applied"
    if usage.nearest is None:
        things = "no operation began" if is_outcome else "there was no request"
        return f"{things} while it was armed"
    reason = usage.nearest.describe()
    if is_spent(entry, now_ms):
        reason += f" (it acted until {entry.rule.until})"
    return reason
