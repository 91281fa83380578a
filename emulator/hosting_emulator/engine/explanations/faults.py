"""Sentences about armed faults and outcomes: which matched a request, which acted, and why the
others did not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.commits import explain_commit
from hosting_emulator.engine.explanations.steps import ExplainedStep
from hosting_emulator.engine.history import Commit
from hosting_emulator.faults.decisions import faults_in_order, idle_reason
from hosting_emulator.faults.kinds import commit_phase_of
from hosting_emulator.faults.outcome_texts import outcome_text
from hosting_emulator.faults.outcomes import outcome_of, phases_of
from hosting_emulator.world import tables
from hosting_emulator.world.fault_records import CommitPhase, Fault
from hosting_emulator.world.records import Operation


def explain_faults(
    entry: Entry, counting_commits: Sequence[Commit], commit_phase: CommitPhase | None
) -> Iterator[ExplainedStep]:
    """Explain the faults in a commit phase: those that acted, and those that matched the request
    but did not act.

    If `commit_phase` is None, explain the faults that have no commit phase, such as alterations.
    """
    for fault in entry.acted:
        if commit_phase_of(fault) == commit_phase:
            yield ExplainedStep("fault", f"{_acted_text(entry, fault)}.")
    acted_ids = {fault.id for fault in entry.acted}
    for commit in counting_commits:
        faults = counted_faults(commit)
        if not any(commit_phase_of(fault) == commit_phase for fault in faults):
            continue
        for fault in faults:
            if fault.id not in acted_ids:
                reason = _idle_reason(entry, commit, fault, commit_phase)
                sentence = f"{fault.id} ({fault.kind}) matched but did not act: {reason}."
                yield ExplainedStep("fault", sentence)
        yield ExplainedStep("fault", explain_commit(commit))
    if commit_phase is None:
        counted_ids = {fault.id for commit in counting_commits for fault in counted_faults(commit)}
        for fault_id, reason in entry.unaltered:
            if fault_id not in counted_ids:
                yield ExplainedStep("fault", f"{fault_id} matched but did not act: {reason}.")


def _acted_text(entry: Entry, fault: Fault) -> str:
    """Return a clause saying that a fault acted, and what it altered."""
    commit_phase = commit_phase_of(fault)
    phase = f", {commit_phase}" if commit_phase else ""
    text = f"{fault.id} ({fault.kind}{phase}) acted, hit {fault.hits}"
    changes = [part.describe() for part in entry.altered if part.fault == fault.id]
    return f"{text}: {'; '.join(changes)}" if changes else text


def _idle_reason(
    entry: Entry, commit: Commit, fault: Fault, commit_phase: CommitPhase | None
) -> str:
    """Return why a fault that matched a request did not act on it."""
    reasons = dict(entry.unaltered)
    if fault.id in reasons:
        return reasons[fault.id]
    was_refused = entry.was_refused and all(
        commit_phase_of(fault) != "after_commit" for fault in entry.acted
    )
    if was_refused and commit_phase == "after_commit":
        return "the request was refused, so nothing was committed"
    project_id, organization_id = entry.about(commit.before)
    return idle_reason(fault, entry.at_ms, commit.before, project_id, organization_id)


def explain_outcomes(entry: Entry, commits: Sequence[Commit]) -> Iterator[str]:
    """Explain which outcome applies to the operation that a request started, and why others do not."""
    for commit in commits:
        new_operations = _new_operations(commit)
        if new_operations and entry.call is not None:
            yield from _idle_outcomes(entry, entry.call, commit)
        for operation in new_operations:
            outcome = operation.outcome
            if outcome is None:
                continue
            armed = commit.world.get(tables.OUTCOMES, outcome.id)
            hit = ""
            if armed is not None and outcome.while_ is None:
                hit = f", hit {armed.hits}"
            yield f"{outcome.id} applies to the operation{hit}: {outcome_text(outcome)}."


def _new_operations(commit: Commit) -> list[Operation]:
    """Return the operations that a commit created."""
    return [
        operation
        for operation in commit.writes.get(tables.OPERATIONS.name, {}).values()
        if operation is not None and commit.before.get(tables.OPERATIONS, operation.id) is None
    ]


def _idle_outcomes(entry: Entry, call: str, commit: Commit) -> Iterator[str]:
    """Explain why armed outcomes that matched a request do not apply to the operation that it
    started.
    """
    project_id, organization_id = entry.about(commit.before)
    outcomes = [operation.outcome for operation in _new_operations(commit)]
    applied_ids = {outcome.id for outcome in outcomes if outcome is not None}
    for armed in faults_in_order(commit.before, tables.OUTCOMES):
        counted = commit.writes.get(tables.OUTCOMES.name, {}).get(armed.id)
        if counted is None:
            phase = outcome_of(armed).at
            matches_call = armed.rule.call in (None, call)
            matches_project = armed.rule.project in (None, project_id)
            if matches_call and matches_project and phase and phase not in phases_of(call):
                yield (
                    f"{armed.id} ({armed.kind}) does not apply: an operation of {call} has "
                    f"no phase {phase}."
                )
        elif counted.hits == armed.hits and armed.id not in applied_ids:
            reason = idle_reason(counted, entry.at_ms, commit.before, project_id, organization_id)
            yield f"{armed.id} ({armed.kind}) matched but did not act: {reason}."


def counted_faults(commit: Commit) -> list[Fault]:
    """Return the faults whose counts a commit changed."""
    rows = commit.writes.get(tables.FAULTS.name, {}).values()
    return [fault for fault in rows if fault is not None]
