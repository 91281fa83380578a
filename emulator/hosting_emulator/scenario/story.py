"""Runs a story's steps in order in a world until a step fails, and reports the result.

The engine handles the requests as if a server had received them, but without a socket and without
waiting in real time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.criteria.mismatches import Mismatch
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.scenario.arrival import Arrival, PageHandler
from hosting_emulator.scenario.build import build_world, read_and_check
from hosting_emulator.scenario.comparison import compare_response
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.entries import entries_of, unused_entries
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.new_tokens import new_token_hint
from hosting_emulator.scenario.reading import Scenario, scenario_of
from hosting_emulator.scenario.slices import Slices, run_slices
from hosting_emulator.scenario.source import KeyPath, Location, Position, Source
from hosting_emulator.scenario.step_keys import ACTIONS, REQUESTS
from hosting_emulator.scenario.step_titles import title_of
from hosting_emulator.scenario.story_actions import Attempt, StoryActions, describe_arrival
from hosting_emulator.scenario.variables import POSSIBLE, Variables
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import World

#: How long to wait before a retry if neither the step nor the response says so, in milliseconds.
_DEFAULT_PAUSE_MS = 1000


def check_text(text: str, file: str, page_handler: PageHandler | None = None) -> dict[str, Any]:
    """Run a scenario's story in the scenario's own world, and return the report.

    Raises ScenarioError if the text is not a valid scenario.
    """
    now_ms = machine_ms()
    scenario = read_and_check(text, file, now_ms)
    world = build_world(scenario, "default", now_ms)
    return run_in_other_world(scenario, world, page_handler)


def run_in_other_world(
    scenario: Scenario,
    world: World,
    page_handler: PageHandler | None = None,
    judged_step: KeyPath | None = None,
) -> dict[str, Any]:
    """Run a story in a separate world, and return the report.

    In the separate world, time passes only through the story's steps and through delays that a
    client would have to wait out. For `judged_step`, see `StoryRun.run`.
    """
    return story_in_other_world(scenario, world, page_handler).run(judged_step)


def story_in_other_world(
    scenario: Scenario, world: World, page_handler: PageHandler | None = None
) -> StoryRun:
    """Prepare to run a story in a separate world. The returned run has not been started."""
    engine = Engine(world, Keeper(), lambda: world.clock.machine_ms)
    return StoryRun(scenario, engine, page_handler)


def run_document(
    document: dict[str, Any],
    page_handler: PageHandler | None = None,
    judged_step: KeyPath | None = None,
    seed: str = DEFAULT_SEED,
) -> dict[str, Any]:
    """Run the story of a scenario that is given as plain data, in a separate world, and return the
    report.

    In the report, step n is on line n + 1. Raises ScenarioError if the scenario is invalid.
    """
    positions: dict[KeyPath, Position] = {
        ("story", index): (index + 2, 1) for index in range(len(document["story"]))
    }
    scenario = scenario_of(Source("scenario.yaml", document, positions, {}))
    world = build_world(scenario, "default", 0, seed)
    return run_in_other_world(scenario, world, page_handler, judged_step)


class StoryRun:
    """A run of a scenario's story in a world.

    Without a `page_handler`, the story cannot request pages.
    """

    def __init__(
        self, scenario: Scenario, engine: Engine, page_handler: PageHandler | None = None
    ) -> None:
        self._scenario = scenario
        self._engine = engine
        self._variables = Variables(engine)
        self._types = ResponseTypes(scenario.part)
        self._actions = StoryActions(engine, self._variables, self._types, page_handler)
        #: The keys of the timeline entries that could not be carried out.
        self._refused_keys: set[str] = set()
        #: The most recent attempt at the current step.
        self._attempt = Attempt(scenario.location)

    def run(self, judged_step: KeyPath | None = None) -> dict[str, Any]:
        """Run the steps until a step fails, and return the report.

        The story also fails if a fault, an outcome or a timeline entry never acted, unless it is
        `optional`. If `judged_step` is the path of a step, only that step's differences count, and
        every other step passes if it can be carried out. By default, the differences of all steps
        count.
        """
        return run_slices(self.run_in_slices(judged_step))

    def run_in_slices(self, judged_step: KeyPath | None = None) -> Slices[dict[str, Any]]:
        """Do the same as `run`, but yield after each request, so that other work can run."""
        steps: list[dict[str, Any]] = []
        story = self._steps(self._scenario.location / "story", self._scenario.part.story)
        for location, step in story:
            report = yield from self._step(len(steps) + 1, location, step)
            steps.append(report)
            if judged_step is not None and judged_step != location.path:
                report["passed"] = _was_possible(report)
            if not report["passed"]:
                break
        entries = entries_of(self._engine, self._scenario.location, self._actions.changes.armed_at)
        steps_passed = all(step["passed"] for step in steps)
        return {
            "scenario": self._scenario.part.name,
            "file": self._scenario.source.file,
            "passed": steps_passed and not (steps and unused_entries(entries)),
            "steps": steps,
            "entries": entries,
            "digest": self._actions.digest,
            "variation": variation_view(self._engine),
            "warnings": list(self._actions.warnings),
        }

    def _steps(
        self, location: Location, steps: Sequence[StepPart]
    ) -> Iterator[tuple[Location, StepPart]]:
        """Yield the steps with their locations. Each `use` step is replaced with the steps of the part."""
        for index, step in enumerate(steps):
            if step.use is None:
                yield location / index, step
                continue
            names = [part.name for part in self._scenario.part.parts]
            part_index = names.index(step.use)
            part = self._scenario.part.parts[part_index]
            part_steps = self._scenario.location / "parts" / part_index / "steps"
            for _ in range(step.times):
                with self._variables.scope(self._variables.fill(step.with_)):
                    yield from self._steps(part_steps, part.steps)

    def _step(self, number: int, location: Location, step: StepPart) -> Slices[dict[str, Any]]:
        """Run a step as many times as its `times` requires, and return its report."""
        action = _action_of(step)
        message = ""
        differences: list[Mismatch] = []
        refused: list[dict[str, Any]] = []
        counts: Counter[str] = Counter()
        self._actions.requests.waited_ms = 0
        self._attempt = Attempt(location)
        try:
            for _ in range(step.times):
                message, differences = yield from self._try(step, action, location)
                if action in REQUESTS:
                    counts[describe_arrival(self._attempt.response)] += 1
                    self._variables.collect(step, self._attempt.response, self._types)
                missing = self._variables.save(step.save, self._attempt.response)
                if missing:
                    message = str(missing[0].actual)
                    differences += missing
                if differences:
                    break
            if len(counts) > 1 and not differences:
                message = _describe_counts(counts)
            refused = self._refused_entries()
        except ValueError as error:
            message = str(error)
            differences = [Mismatch(action, POSSIBLE, message)]
        return {
            "n": number,
            "line": location.line,
            "title": step.note or title_of(action, step),
            "passed": not (differences or refused),
            "message": message,
            "waited_ms": self._actions.requests.waited_ms,
            "differences": [
                *(_difference_report(location, difference) for difference in differences),
                *refused,
            ],
            "responses": [arrival.report() for arrival in self._attempt.arrivals],
            "nearest": self._attempt.nearest,
        }

    def _try(
        self, step: StepPart, action: str, location: Location
    ) -> Slices[tuple[str, list[Mismatch]]]:
        """Carry out a step once, with retries if it has `tries`.

        The step is retried until the response is as expected, with at most `tries` attempts in all.
        Returns a description of the last attempt and the differences in it.
        """
        message = ""
        differences: list[Mismatch] = []
        requests = self._actions.requests
        key_count = requests.key_count
        for number in range(step.tries):
            if number:
                self._engine.move_by(_pause_ms(step, self._attempt.response))
            requests.key_count = key_count  # a retry must send the same key as the first attempt
            self._attempt = Attempt(location)
            message = yield from self._actions.run(action, step, self._attempt)
            yield
            differences = self._attempt.mismatches
            if action in REQUESTS:
                response = self._attempt.response
                differences = compare_response(step, response, self._variables, self._types)
                if differences:
                    message += new_token_hint(step, response, self._variables)
            if not differences:
                break
        return message, differences

    def _refused_entries(self) -> list[dict[str, Any]]:
        """Return a difference for each timeline entry that could not be carried out since the
        previous step.
        """
        refused = {key: entry for key, entry in self._engine.world.rows(TIMELINE) if entry.refused}
        reports = []
        for key, entry in refused.items():
            if key not in self._refused_keys:
                location = self._scenario.location / "timeline" / entry.order / entry.action
                mismatch = Mismatch(f"timeline[{entry.order}]", POSSIBLE, entry.message)
                reports.append(_difference_report(location, mismatch))
        self._refused_keys = set(refused)
        return reports


def _describe_counts(counts: Mapping[str, int]) -> str:
    """Describe how many of a repeated step's requests ended in which way."""
    total = sum(counts.values())
    return ", ".join(f"{result} in {count} of {total}" for result, count in counts.items())


def _difference_report(location: Location, difference: Mismatch) -> dict[str, Any]:
    """Format a difference for the report, with the line and column of the expectation."""
    line, column = location.below(difference.path).position
    return {**difference.report(), "line": line, "column": column}


def _action_of(step: StepPart) -> str:
    """Return a step's action, or `note` if it has none."""
    for name in ACTIONS:
        if getattr(step, name) is not None:
            return name
    return "note"


def _pause_ms(step: StepPart, response: Arrival) -> int:
    """Return how long to wait before a retry, in milliseconds.

    This is the step's `pause` or, by default, the wait specified in the last response. If the
    response specifies no wait, it is one second.
    """
    if step.pause is not None:
        return parse_duration_ms(step.pause)
    seconds = response.header("Retry-After") or response.at("progress.next_poll_after_seconds")
    if str(seconds).isdecimal():
        return int(seconds) * 1000
    return _DEFAULT_PAUSE_MS


def _was_possible(report: dict[str, Any]) -> bool:
    """Return whether a step could be carried out, according to its report."""
    return all(difference["expected"] != POSSIBLE for difference in report["differences"])
