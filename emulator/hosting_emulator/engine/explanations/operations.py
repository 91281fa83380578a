"""Explains why an operation is in its current state, what it is waiting for, and how to make it
continue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.outcome_texts import outcome_text
from hosting_emulator.messages import NextStep, Why
from hosting_emulator.world import lifecycles, tables
from hosting_emulator.world.conditions import condition_text, unmet_condition
from hosting_emulator.world.fault_records import is_spent
from hosting_emulator.world.operations import is_held_next, stale_generation
from hosting_emulator.world.partial_effects import effects_text, visible_places
from hosting_emulator.world.plans import (
    HELD,
    describe_state,
    is_finished,
    is_held,
    next_outcome_step,
    outcome_will_act,
    plan_of,
    profile_of,
    waits_for_condition,
)
from hosting_emulator.world.records import (
    Ending,
    Operation,
    OperationOutcome,
    PartialEffects,
    Project,
)
from hosting_emulator.world.value import Change, World

_CLOCK_SENTENCES = {
    "real": "The clock is real, so wait.",
    "scaled": "The clock is scaled, so the wait depends on the clock's rate.",
    "frozen": "The clock is frozen, so advance it.",
    "skip": "The clock skips, so the next poll of the operation moves the clock to that time.",
}
_STALE = (
    "The operation will fail in its next step, because the source generation that it expects is "
    "no longer current (see the source_generation assumption)."
)


@dataclass(slots=True)
class _Reason:
    """Why an operation is in its current state.

    `commands` are the commands that make the operation continue. `held_by` names what is holding
    the operation up, if anything is. `waits_for` is the id of the operation that this operation is
    waiting for, if any.
    """

    sentences: list[str]
    commands: list[str] = field(default_factory=list)
    held_by: str | None = None
    waits_for: str | None = None
    next_step: NextStep | None = None


def why(engine: Engine, operation_id: str) -> Why | None:
    """Return an explanation of an operation's state, or None if there is no such operation.

    Its commands are `hosting-emulator` commands, without the options that select the emulator and
    the world.
    """
    now_ms = engine.run_due()
    world = engine.world
    operation = world.get(tables.OPERATIONS, operation_id)
    if operation is None:
        return None
    project = world.get(tables.PROJECTS, operation.project_id)
    assert project is not None
    if is_finished(operation):
        reason = _Reason(list(_end_sentences(operation)))
    else:
        reason = _reason(engine, operation, project, now_ms)
    reconciliation = None
    if operation.reconciliation is not None:
        reconciliation = operation.reconciliation.state
    return Why(
        operation=operation.id,
        kind=operation.kind,
        project=project.alias,
        state=operation.state,
        finished=is_finished(operation),
        phase=operation.phase,
        reconciliation=reconciliation,
        at=format_timestamp(now_ms),
        sentences=reason.sentences,
        next=reason.next_step,
        waits_for=reason.waits_for,
        held_by=reason.held_by,
        commands=reason.commands,
    )


def standstill(engine: Engine, operation_id: str) -> str:
    """Return sentences that say why an unfinished operation does not advance with time, and which
    command to run.
    """
    explanation = why(engine, operation_id)
    assert explanation is not None
    sentences = [f"operation {operation_id} does not advance with time.", *explanation.sentences]
    sentences += [f"Run `{command}`." for command in explanation.commands]
    return " ".join(sentences)


# --- A finished operation ---------------------------------------------------------------------------


def _end_sentences(operation: Operation) -> Iterator[str]:
    """Explain how an operation ended, and why."""
    verb = lifecycles.STATE_WORDS[operation.state].ended
    yield f"It {verb} at {operation.updated_at}. This state is final."
    yield _decision(operation)
    ending = operation.ending
    outcome = operation.outcome
    if outcome is not None and (ending is None or ending.by != "outcome"):
        yield _indecisive_outcome(outcome)
    if ending is not None and ending.leaves is not None:
        yield from _effect_sentences(ending, ending.leaves)
    error = operation.error
    if error is not None:
        retryable = "retryable" if error.retryable else "not retryable"
        yield f"The error is {error.code}, which is {retryable}: {error.message}"


def _effect_sentences(ending: Ending, effects: PartialEffects) -> Iterator[str]:
    """Explain which of the `effects` an operation left behind when it ended."""
    left = effects
    if ending.unchanged_dns:
        left = replace(effects, dns=None)
    if left != PartialEffects():
        yield f"The partial effect is {effects_text(left)}: {visible_places(left)}."
    if ending.unchanged_dns and ending.unchanged_dns == effects.dns:
        yield f"The DNS authorization was already {effects.dns}, so it stayed unchanged."
    elif ending.unchanged_dns:
        yield (
            f"The DNS authorization stayed {ending.unchanged_dns}, because its lifecycle does not "
            f"allow it to become {effects.dns} from there."
        )


def _decision(operation: Operation) -> str:
    """Explain what caused an operation to end."""
    ending = operation.ending
    if ending is None:
        return "No call started the operation. It was added to the world with its deployment."
    if ending.by == "outcome":
        outcome = operation.outcome
        if outcome is not None and outcome.while_ is not None:
            return (
                f"{ending.name} decided how the operation ended, because its condition held in "
                f"{outcome.phase}: {condition_text(outcome.while_)}."
            )
        return f"{ending.name} decided how the operation ended."
    if ending.by == "intervention":
        return f"The {ending.name} intervention ended the operation."
    if ending.by == "generation":
        return (
            "The operation expected a source generation that was no longer current at its start "
            "(see the source_generation assumption)."
        )
    if ending.name:
        return f"The {ending.name} intervention completed the last step of the operation's plan."
    if profile_of(operation)[0] != parse_profile(operation.profile)[0]:
        return "The operation completed its plan in the time that an outcome had set."
    return f"The operation completed its plan under its profile, {operation.profile}."


def _indecisive_outcome(outcome: OperationOutcome) -> str:
    """Explain what an outcome did to an operation if it did not determine how the operation ended."""
    if outcome.steps_taken < len(outcome.steps):
        rest = "its remaining steps" if outcome.steps_taken else "its steps"
        return f"The operation ended before {outcome.id} took {rest}: {outcome_text(outcome)}."
    if outcome.steps:
        return f"Before the end, {outcome.id} had acted in {outcome.phase}: {', '.join(outcome.steps)}."
    if outcome.queued_ms is None and outcome.running_ms is None:
        return f"{outcome.id} applied to the operation, but set no durations."
    return f"{outcome.id} determined how long the operation took."


# --- An unfinished operation ------------------------------------------------------------------------


def _reason(engine: Engine, operation: Operation, project: Project, now_ms: int) -> _Reason:
    """Explain an unfinished operation, and name the faults that can make a client see a different
    state.
    """
    reason = _own_reason(engine, operation, project, now_ms)
    outcome = operation.outcome
    if outcome is not None and (outcome_will_act(operation) or not outcome.steps):
        text = outcome_text(outcome)
        if text:
            reason.sentences.append(f"{outcome.id} applies to the operation: {text}.")
        if waits_for_condition(operation):
            reason.sentences.append(_condition_sentence(engine.world, operation, outcome, now_ms))
    for fault in faults_in_order(engine.world):
        is_for_polls = fault.rule.call == GET_OPERATION.call_id
        is_for_project = fault.rule.project in (None, project.id)
        if is_for_polls and is_for_project and not is_spent(fault, now_ms):
            reason.sentences.append(
                f"{fault.id} ({fault.kind}) is armed for polls, so a client may see a different "
                "state."
            )
            reason.commands.append(f"fault remove {fault.id}")
    return reason


def _condition_sentence(
    world: World, operation: Operation, outcome: OperationOutcome, now_ms: int
) -> str:
    """Say whether the condition of an operation's outcome currently holds."""
    assert outcome.while_ is not None
    armed = world.get(tables.OUTCOMES, outcome.id)
    if armed is None:
        return f"{outcome.id} was removed before it could act, so it will not act."
    if is_spent(armed, now_ms):
        return f"{outcome.id} is used up, so it will not act again."
    unmet = unmet_condition(outcome.while_, world, operation.project_id, None)
    if unmet is None:
        return f"The condition of {outcome.id} holds now."
    return f"The condition of {outcome.id} does not hold now: {unmet}."


def _own_reason(engine: Engine, operation: Operation, project: Project, now_ms: int) -> _Reason:
    """Explain an unfinished operation by its own state, ignoring faults and outcomes."""
    if operation.kind == HELD:
        sentence = (
            "No call started the operation. The hold_claim intervention created it, and it "
            f"holds the mutation claim of {project.alias} until you release the claim."
        )
        command = f"intervene release_claim project={project.alias}"
        return _Reason([sentence], [command], "the hold_claim intervention")
    if project.claim != operation.id:
        reason = _waiting(engine, operation, project, now_ms)
        if operation.stuck:
            stuck = _stuck(operation)
            reason.sentences = stuck.sentences + reason.sentences
            reason.commands = stuck.commands + reason.commands
            reason.held_by = stuck.held_by
        return reason
    if operation.stuck and is_held(operation):
        return _held(engine, operation, now_ms)
    if operation.stuck:
        return _stuck(operation)
    if operation.event is not None:
        return _timed(engine, operation, now_ms)
    return _untimed(engine, operation)


def _stuck(operation: Operation) -> _Reason:
    """Explain an operation that is stuck or waiting for reconciliation."""
    reconciliation = operation.reconciliation
    outcome = operation.outcome
    stuck_by = operation.stuck_by
    if outcome is None or stuck_by != outcome.id:
        stuck_by = f"the {stuck_by} intervention"
    stopped = (
        f"It is stuck while {operation.state}: {stuck_by} stopped it, so neither time nor a poll "
        "advances it."
    )
    if reconciliation is None or reconciliation.state not in ("required", "running"):
        command = f"intervene release_operation operation={operation.id}"
        return _Reason([stopped], [command], stuck_by)
    sentences = [
        f"The operation's result is not known yet. Its reconciliation is {reconciliation.state} "
        f"(attempt {reconciliation.attempt_id}), and time alone does not end it."
    ]
    if operation.stuck_by != "require_reconciliation":
        sentences.append(stopped)
    interventions = ["complete_reconciliation"]
    if reconciliation.state == "required":
        interventions.insert(0, "run_reconciliation")
    if reconciliation.was_stuck:
        interventions.append("release_operation")
    commands = [f"intervene {name} operation={operation.id}" for name in interventions]
    return _Reason(sentences, commands, f"a reconciliation that is {reconciliation.state}")


def _held(engine: Engine, operation: Operation, now_ms: int) -> _Reason:
    """Explain an operation that its outcome is holding in a phase and will release automatically."""
    outcome = operation.outcome
    assert outcome is not None
    ends = []
    next_step = None
    commands = [f"intervene release_operation operation={operation.id}"]
    due_ms = engine.due_of(operation.id)
    if operation.event is not None and due_ms is not None:
        at = format_timestamp(due_ms)
        remaining = format_duration(max(0, due_ms - now_ms))
        ends.append(f"at {at} (in {remaining} of world time)")
        next_step = NextStep(at=at, event=f"{outcome.id} lets it continue")
        commands.insert(0, f"clock advance --until-operation {operation.id}")
    if outcome.while_ is not None:
        ends.append(f"as soon as this is no longer true: {condition_text(outcome.while_)}")
    sentences = [
        f"{outcome.id} is holding it in the state {describe_state(operation)}, and will let it "
        f"continue {', or '.join(ends)}."
    ]
    reconciliation = operation.reconciliation
    if reconciliation is not None and reconciliation.state in ("required", "running"):
        sentences.append(f"Its reconciliation is {reconciliation.state}, and must end first.")
        commands = [f"intervene complete_reconciliation operation={operation.id}"]
        if reconciliation.state == "required":
            commands.insert(0, f"intervene run_reconciliation operation={operation.id}")
    return _Reason(sentences, commands, outcome.id, next_step=next_step)


def _waiting(engine: Engine, operation: Operation, project: Project, now_ms: int) -> _Reason:
    """Explain an operation that is waiting for the operation that holds the project's claim."""
    world = engine.world
    holder_id = str(project.claim)
    holder = world.get(tables.OPERATIONS, holder_id)
    assert holder is not None
    holder_reason = _reason(engine, holder, project, now_ms)
    waiting_ahead = _waiting_ahead(engine, operation, project)
    ahead = f", with {len(waiting_ahead)} more waiting ahead of it" if waiting_ahead else ""
    sentences = [
        f"It is queued: operation {holder_id} holds the mutation claim of {project.alias}{ahead}. A "
        "project runs one operation at a time."
    ]
    sentences += [f"Blocking operation: {sentence}" for sentence in holder_reason.sentences]
    mode, _, _ = profile_of(operation)
    if mode in ("manual", "per_poll"):
        sentences.append(
            f"Once it holds the claim, it follows its own profile, {operation.profile}."
        )
    reason = _Reason(sentences, holder_reason.commands, holder_reason.held_by, holder_id)
    next_step = holder_reason.next_step
    if next_step is not None:
        event = f"{next_step.event} (the operation that it is waiting for)"
        reason.next_step = NextStep(at=next_step.at, event=event)
        if all(map(_ends_with_time, (holder, *waiting_ahead, operation))):
            reason.commands = [f"clock advance --until-operation {operation.id}"]
    return reason


def _waiting_ahead(engine: Engine, operation: Operation, project: Project) -> list[Operation]:
    """Return the project's queued operations that will run before this one."""
    ahead: list[Operation] = []
    key = project.queue_head
    while key is not None and key != operation.id:
        waiting = engine.world.get(tables.OPERATIONS, key)
        assert waiting is not None
        if waiting.state == "queued":
            ahead.append(waiting)
        key = waiting.next_waiting
    return ahead


def _ends_with_time(operation: Operation) -> bool:
    """Return whether an operation that holds its project's claim ends by the passing of time alone."""
    outcome = operation.outcome
    holds_for_time = outcome is not None and outcome.hold_ms is not None
    if operation.kind == HELD:
        return False
    if operation.stuck and not (holds_for_time and is_held(operation)):
        return False
    may_stick = outcome is not None and "stuck" in outcome.steps and outcome_will_act(operation)
    if may_stick and not holds_for_time:
        return False
    return profile_of(operation)[0] in ("timed", "immediate")


def _fails_stale(engine: Engine, operation: Operation) -> bool:
    """Return whether an operation will fail in its next step because the generation that it expects
    is stale.
    """
    change = Change(engine.world, engine.world.at_ms)
    return operation.step == 0 and stale_generation(change, operation) is not None


def _timed(engine: Engine, operation: Operation, now_ms: int) -> _Reason:
    """Explain an operation whose next step is scheduled."""
    due_ms = engine.due_of(operation.id)
    assert due_ms is not None
    is_stale = _fails_stale(engine, operation)
    becomes, into = _next_state(engine.world, operation, is_stale=is_stale)
    remaining = format_duration(max(0, due_ms - now_ms))
    if is_stale or _ends_with_time(operation):
        command = f"clock advance --until-operation {operation.id}"
    else:
        command = f"clock advance {remaining}"
    at = format_timestamp(due_ms)
    state = describe_state(operation)
    sentences = [f"It is {state}, and {becomes} at {at}, in {remaining} of world time."]
    if is_stale:
        sentences.append(_STALE)
    sentences.append(_CLOCK_SENTENCES[engine.world.clock.mode])
    next_step = NextStep(at=at, event=f"it changes from {state} to {into}")
    return _Reason(sentences, [command], next_step=next_step)


def _next_state(world: World, operation: Operation, *, is_stale: bool) -> tuple[str, str]:
    """Return two phrases: what an operation's next step does, and the state that it leads to."""
    if is_stale:
        return "fails", "failed"
    if is_held_next(Change(world, world.at_ms), operation):
        return "becomes stuck", "stuck"
    following = plan_of(operation)[operation.step + 1]
    state = following.state
    if following.state == operation.state:
        state = following.phase
    turn = None if operation.outcome is None else next_outcome_step(operation)
    if operation.outcome is not None and turn is not None:
        state = operation.outcome.steps[turn]
        if state in lifecycles.RECONCILIATION.transitions:
            return f"its reconciliation becomes {state}", f"a reconciliation that is {state}"
    return f"becomes {state}", state


def _untimed(engine: Engine, operation: Operation) -> _Reason:
    """Explain an operation that is advanced by polls or by an intervention rather than by time."""
    mode, polls_per_state, _ = profile_of(operation)
    if mode == "per_poll":
        sentences = [_per_poll(operation, polls_per_state)]
        commands: list[str] = []
        held_by = None
    else:
        sentences = [
            f"It is {describe_state(operation)}, and its profile is {mode}. It does not advance "
            "with time: only the step_operation intervention advances it."
        ]
        commands = [f"intervene step_operation operation={operation.id}"]
        held_by = f"its profile, {mode}"
    if _fails_stale(engine, operation):
        sentences.append(_STALE)
    return _Reason(sentences, commands, held_by)


def _per_poll(operation: Operation, polls_per_state: int) -> str:
    """Explain an operation that advances when it is polled."""
    outcome = operation.outcome
    moves = f"It is {describe_state(operation)} and advances when it is polled"
    if outcome is not None and outcome.steps_taken and outcome_will_act(operation):
        return f"{moves}: each remaining step of {outcome.id} lasts 1 poll."
    polls = "1 poll" if polls_per_state == 1 else f"{polls_per_state} polls"
    return f"{moves}: each state lasts {polls}, and the current state has had {operation.polls}."
