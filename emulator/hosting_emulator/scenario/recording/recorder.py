"""Records a session as a scenario file.

The recorder chooses the head of the file, writes the story, and revises the story until it passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.value_texts import quoted_value
from hosting_emulator.scenario.entries import unused_entries
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.connections import RecordedConnections
from hosting_emulator.scenario.recording.heads import (
    Document,
    FileHead,
    describes_world,
    head_of_state,
    moment_text,
    original_head,
)
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.scenario.recording.sessions import Session, SessionEvent
from hosting_emulator.scenario.recording.step_writer import (
    BODY_CUT,
    RecordedStep,
    StepWriter,
    inexact_part,
    inexpressible_part,
    is_body_cut,
)
from hosting_emulator.scenario.story import run_document
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator.world.value import World

#: A request whose step fails is left out only if no more than this many have been left out before.
_MOST_LEFT_OUT = 50
#: The maximum number of differences to list in the error message for a failed step.
_MOST_DIFFERENCES = 3
#: A file does not need a seed if its story also passes with each of these seeds.
_OTHER_SEEDS = (DEFAULT_SEED, "another")


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A recorded scenario file.

    `steps` is the number of steps. `left_out` contains a clause for each request that was left out,
    and first a clause about the requests that the log has dropped, unless the user chose the first
    request of the span.
    """

    text: str
    steps: int
    left_out: list[str]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan for a recorded file: its head, and the events that its story will repeat.

    The responses to the first `unjudged_count` events are not judged. These events only recreate
    the state at the start of the recorded span.
    """

    head: FileHead
    events: Sequence[SessionEvent]
    unjudged_count: int = 0

    def is_judged(self, index: int) -> bool:
        """Return whether the response to an event is judged."""
        return index >= self.unjudged_count


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a story failed, and the index of the step that failed or was refused.

    The index is None if another part of the file was refused.
    """

    step_index: int | None
    reason: str


def record_session(
    session: Session, name: str = "recorded", first: str | None = None, last: str | None = None
) -> RecordedFile:
    """Record a session, or a span of it, as a scenario.

    `first` and `last` are each the number of a request (`12`) or of a commit (`commit:40`). The
    file for a span starts from the world's state at the start of the span. If a file cannot
    describe this state, the story first repeats the earlier events, without judging their
    responses.

    Raises NotRecordable if the session or span cannot be expressed as a scenario.
    """
    span = session.span(first, last)
    dropped = []
    if session.dropped_requests and first is None:
        dropped.append(f"{_dropped_text(session.dropped_requests)}: no longer in the request log")
    beginning = original_head(session.base, name)
    reason = ""
    for plan in _plans(session, span, name, beginning):
        for exact in (False, True):
            try:
                file = _write_file(session.world, plan, exact=exact)
                return replace(file, left_out=[*dropped, *file.left_out])
            except NotRecordable as error:
                reason = str(error)
    if beginning is None:
        reason += (
            "; the initial state of this world is no longer stored, and a file can express only a "
            "part of the later state: record after a reset"
        )
    raise NotRecordable(reason)


def _dropped_text(count: int) -> str:
    return "request 1" if count == 1 else f"requests 1 to {count:,}"


def _plans(session: Session, span: range, name: str, beginning: FileHead | None) -> list[_Plan]:
    """Return the possible plans for recording a span, most preferred first."""
    events = session.events
    plans = []
    if beginning is not None:
        plans.append(_Plan(beginning, events[: span.stop], span.start))
    if beginning is not None and span.start == 0:
        return plans
    world = session.base
    at_ms = world.at_ms
    if span.start > 0:
        first_event = events[span.start]
        world = first_event.before
        at_ms = first_event.at_ms
    head = head_of_state(world, at_ms, name)
    plan = _Plan(head, events[span.start : span.stop])
    if beginning is None or describes_world(head.document, world, at_ms):
        plans.insert(0, plan)
    else:
        plans.append(plan)
    return plans


def _write_file(world: World, plan: _Plan, *, exact: bool) -> RecordedFile:
    """Return the recorded file for a plan, with a story that passes.

    Raises NotRecordable if the story cannot be made to pass.
    """
    document = {**plan.head.document, "description": _description(world, plan)}
    left_out = _unrepeatable_requests(plan)
    while True:
        steps = _write_steps(world, plan, left_out, exact=exact)
        document["story"] = [step.document for step in steps]
        failure = _find_failure(document, world.seed)
        if failure is None:
            break
        left_out |= _requests_to_leave_out(failure, steps, plan, left_out, exact=exact)
    _mark_unused(document, world.seed)
    try:
        text = _shortest_text(document)
        read_scenario(text, "scenario.yaml")
    except RecursionError:
        reason = "a body is nested too deeply for a scenario: record a shorter span"
        raise NotRecordable(reason) from None
    except ScenarioError as error:
        raise NotRecordable(f"{error.message}: record a shorter span") from None
    return RecordedFile(text, len(steps), list(left_out.values()))


def _description(world: World, plan: _Plan) -> str:
    request_count = sum(event.entry is not None for event in plan.events)
    change_count = len(plan.events) - request_count
    last_moment = moment_text(plan.events[-1].at_ms)
    return (
        f"Recorded in the world {world.name}, up to {last_moment}: requests {request_count}, "
        f"manual changes {change_count}."
    )


def _unrepeatable_requests(plan: _Plan) -> dict[int, str]:
    """Return the requests that no step can repeat, with the reason for leaving them out.

    A request that changed the world is never left out. Raises NotRecordable if a step cannot
    express it.
    """
    reasons = {}
    for event in plan.events:
        entry = event.entry
        if entry is None:
            continue
        reason = inexpressible_part(entry)
        if reason is not None and entry.commits:
            raise NotRecordable(f"{event.title}: {reason}")
        if reason is None and is_body_cut(entry) and not entry.commits:
            reason = BODY_CUT
        if reason is not None:
            reasons[entry.n] = f"{event.title}: {reason}"
    return reasons


def _write_steps(
    world: World, plan: _Plan, left_out: Mapping[int, str], *, exact: bool
) -> list[RecordedStep]:
    connections = RecordedConnections(event.before for event in plan.events)
    writer = StepWriter(world, plan.head, connections, exact=exact)
    for index, event in enumerate(plan.events):
        if plan.unjudged_count and index == plan.unjudged_count:
            writer.add_note("The recording starts here.")
        number = event.request_number
        if number is not None and number in left_out:
            writer.add_note(f"Left out: {left_out[number]}")
        else:
            writer.write(event, judged=plan.is_judged(index))
    return writer.steps


def _find_failure(document: Document, seed: str) -> _Failure | None:
    """Run a file's story. Return the failure, or None if the story passes."""
    try:
        report = run_document(document, seed=seed)
    except ScenarioError as error:
        step_index = error.line - 2  # step n is on line n + 1
        return _Failure(step_index if step_index >= 0 else None, error.message)
    step = report["steps"][-1]
    if step["passed"]:
        return None
    sentences = [
        f"{difference['at']} was {quoted_value(difference['found'])} instead of "
        f"{quoted_value(difference['expected'])}"
        for difference in step["differences"][:_MOST_DIFFERENCES]
    ]
    return _Failure(step["n"] - 1, f"when the story ran, {'; '.join(sentences)}")


def _requests_to_leave_out(
    failure: _Failure,
    steps: Sequence[RecordedStep],
    plan: _Plan,
    left_out: Mapping[int, str],
    *,
    exact: bool,
) -> dict[int, str]:
    """Return which requests to leave out next so that the story may pass, with the reasons.

    Raises NotRecordable if the step that failed cannot be left out.
    """
    if exact:
        # The story would count these requests, but in the recorded world a rewind undid the counts.
        uncounted = {
            event.entry.n: f"{event.title}: the world was rewound and no longer counts this request"
            for event in plan.events
            if event.is_uncounted and event.entry is not None and event.entry.n not in left_out
        }
        if uncounted:
            return uncounted
    event = None if failure.step_index is None else steps[failure.step_index].event
    if event is None:
        raise NotRecordable(failure.reason)
    entry = event.entry
    cause = None if entry is None else inexact_part(entry)
    reason = f"{event.title}: {cause or failure.reason}"
    if entry is None or entry.commits or not exact or len(left_out) > _MOST_LEFT_OUT:
        raise NotRecordable(reason)
    return {entry.n: reason}


def _mark_unused(document: Document, seed: str) -> None:
    """Mark all entries that never act in the story as optional, so that the story still passes."""
    for entry in unused_entries(run_document(document, seed=seed)["entries"]):
        part: Any = document
        for name, index in re.findall(r"(\w+)|\[(\d+)\]", entry.at):
            part = part[name or int(index)]
        if entry.at.endswith(".intervene"):  # the fields of an intervention are one level deeper
            word = next(iter(part))
            part[word] = {**(part[word] or {}), "optional": True}
        else:
            part["optional"] = True


def _shortest_text(document: Document) -> str:
    """Return a file's text, without the seed if the story also passes with other seeds."""
    text = write_yaml(document)
    if "probability:" in text:
        return text
    seedless = {name: value for name, value in document.items() if name != "seed"}
    if any(_find_failure(seedless, seed) for seed in _OTHER_SEEDS):
        return text
    return write_yaml(seedless)
