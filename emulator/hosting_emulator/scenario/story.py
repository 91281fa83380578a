"""Running a story: each step against a live world, each response against what it should be.

Requests go to the engine as a server's do, but without a socket and in no real time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.criteria.comparisons import Mismatch
from hosting_emulator.criteria.value_types import ANY
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.scenario.arrival import Arrival, PageHandler
from hosting_emulator.scenario.build import build_world, is_page
from hosting_emulator.scenario.comparison import compare_response
from hosting_emulator.scenario.document import (
    ACTIONS,
    PLANNED,
    REQUESTS,
    Scenario,
    StepPart,
    read_scenario,
    scenario_of,
)
from hosting_emulator.scenario.entries import entries_of, unused_entries
from hosting_emulator.scenario.expectations import ResponseTypes, judge
from hosting_emulator.scenario.log_step import count_requests
from hosting_emulator.scenario.manual_changes import ManualChanges
from hosting_emulator.scenario.slices import Slices, run_slices
from hosting_emulator.scenario.source import Path, Place, Source
from hosting_emulator.scenario.step_requests import StepRequests
from hosting_emulator.scenario.variables import POSSIBLE, Variables
from hosting_emulator.world.tables import ORGANIZATIONS, TIMELINE
from hosting_emulator.world.value import World

#: Fields of a step whose variables are not filled in before its request, or that have none.
_UNFILLED_FIELDS = {
    "note",
    "call",
    "together",
    "log",
    "use",
    "expect",
    "save",
    "pause",
    "with_",
}
_FILLED_FIELDS = [name for name in StepPart.__struct_fields__ if name not in _UNFILLED_FIELDS]


def check_text(text: str, file: str, page_handler: PageHandler | None = None) -> dict[str, Any]:
    """Run the story of a scenario in a world of its own. Returns the report. Raises ScenarioError."""
    scenario = read_scenario(text, file)
    world = build_world(scenario, "default", machine_ms())
    return run_in_other_world(scenario, world, page_handler)


def run_in_other_world(
    scenario: Scenario,
    world: World,
    page_handler: PageHandler | None = None,
    judged_step: Path | None = None,
) -> dict[str, Any]:
    """Run a story in a world of its own. Returns the report. For `judged_step` see `StoryRun.run`.

    Time passes there only by the story's own steps and by delays that a client would wait for.
    """
    return story_in_other_world(scenario, world, page_handler).run(judged_step)


def story_in_other_world(
    scenario: Scenario, world: World, page_handler: PageHandler | None = None
) -> StoryRun:
    """Return the run of a story in a world of its own, which has not begun."""
    engine = Engine(world, Keeper(), lambda: world.clock.machine_ms)
    return StoryRun(scenario, engine, page_handler)


def run_document(
    document: dict[str, Any],
    page_handler: PageHandler | None = None,
    judged_step: Path | None = None,
    seed: str = DEFAULT_SEED,
) -> dict[str, Any]:
    """Run the story of plain data, as `run_in_other_world` does. Raises ScenarioError.

    Reports give line n + 1 for step n.
    """
    places: dict[Path, tuple[int, int]] = {
        ("story", index): (index + 2, 1) for index in range(len(document["story"]))
    }
    scenario = scenario_of(Source("scenario.yaml", document, places, {}))
    world = build_world(scenario, "default", 0, seed)
    return run_in_other_world(scenario, world, page_handler, judged_step)


class StoryRun:
    """One run of a scenario's story in one world. Without a `page_handler` it has no pages."""

    def __init__(
        self, scenario: Scenario, engine: Engine, page_handler: PageHandler | None = None
    ) -> None:
        self._scenario = scenario
        self._engine = engine
        self._variables = Variables(engine)
        self._requests = StepRequests(engine, self._variables, page_handler)
        self._changes = ManualChanges(engine)
        self._types = ResponseTypes(scenario.part)
        self._digest = sha256()
        self._last = Arrival(Reply(0, b"", headers=()))
        #: The entries of the timeline that were refused so far.
        self._refused: set[str] = set()
        #: The differences that a step without a single request has.
        self._mismatches: list[Mismatch] = []
        #: The assumptions of the world, at any step, that contradict the contract.
        self._warnings: dict[str, None] = {}
        #: The responses of this step.
        self._responses: list[Arrival] = []
        #: The requests that come near those that the `log` of this step names.
        self._nearest: list[str] = []
        #: The place of the current step.
        self._place = scenario.place
        self._actions: dict[str, Callable[[StepPart], str]] = {
            "call": self._call,
            "poll": self._call,
            "redeem": self._call,
            "request": self._request,
            "sign_in": self._sign_in,
            "api_key": self._api_key,
            "advance": lambda step: self._changes.advance(str(step.advance)),
            "to": lambda step: self._changes.move_to(str(step.to)),
            "until": lambda step: self._changes.move_until_ended(str(step.until)),
            "intervene": lambda step: self._changes.intervene(
                {"intervene": step.intervene}, self._place
            ),
            "fault": lambda step: self._arm({"fault": step.fault}),
            "outcome": lambda step: self._arm({"outcome": step.outcome}),
            "remove_fault": lambda step: self._changes.remove({"remove_fault": step.remove_fault}),
            "remove_outcome": lambda step: self._changes.remove(
                {"remove_outcome": step.remove_outcome}
            ),
            "clear_faults": lambda step: self._changes.clear({"clear_faults": step.clear_faults}),
            "clear_outcomes": lambda step: self._changes.clear(
                {"clear_outcomes": step.clear_outcomes}
            ),
            "assume": self._assume,
            "check": self._check,
            "note": lambda step: "",
        }

    def run(self, judged_step: Path | None = None) -> dict[str, Any]:
        """Run all steps, up to the first that fails. Returns the report.

        The story also fails if a fault, an outcome or an entry of the timeline never acted, unless
        that is `optional`. With `judged_step`, the path of one step, each other step passes if it
        can be carried out at all.
        """
        return run_slices(self.run_in_slices(judged_step))

    def run_in_slices(self, judged_step: Path | None = None) -> Slices[dict[str, Any]]:
        """Run the story as `run` does, but yield after each request, so that others can run."""
        steps: list[dict[str, Any]] = []
        self._note_warnings()
        story = self._steps(self._scenario.place / "story", self._scenario.part.story)
        for place, step in story:
            report = yield from self._step(len(steps) + 1, place, step)
            steps.append(report)
            if judged_step not in (None, place.path):
                report["passed"] = all(
                    difference["expected"] != POSSIBLE for difference in report["differences"]
                )
            if not report["passed"]:
                break
        entries = entries_of(self._engine, self._scenario.place, self._changes.armed_at)
        steps_passed = all(step["passed"] for step in steps)
        return {
            "scenario": self._scenario.part.name,
            "file": self._scenario.source.file,
            "passed": steps_passed and not (steps and unused_entries(entries)),
            "steps": steps,
            "entries": entries,
            "digest": self._digest.hexdigest(),
            "variation": variation_view(self._engine),
            "warnings": list(self._warnings),
        }

    def _steps(self, place: Place, steps: Sequence[StepPart]) -> Iterator[tuple[Place, StepPart]]:
        """Yield the steps with their places, and those of a part where it is used."""
        for number, step in enumerate(steps):
            if step.use is None:
                yield place / number, step
                continue
            names = [part.name for part in self._scenario.part.parts]
            index = names.index(step.use)
            part = self._scenario.part.parts[index]
            part_place = self._scenario.place / "parts" / index / "steps"
            for _ in range(step.times):
                with self._variables.scope(self._variables.fill(step.with_)):
                    yield from self._steps(part_place, part.steps)

    def _step(self, number: int, place: Place, step: StepPart) -> Slices[dict[str, Any]]:
        action = next((name for name in ACTIONS if getattr(step, name) is not None), "note")
        message = ""
        self._requests.waited_ms = 0
        self._responses = []
        self._nearest = []
        self._place = place
        differences: list[Mismatch] = []
        try:
            for _ in range(step.times):
                message, differences = yield from self._try(step, action)
                if differences:
                    break
            differences += self._refusals()
            missing = self._variables.save(step.save, self._last)
            if missing:
                message = str(missing[0].found)
                differences += missing
        except ValueError as error:
            message = str(error)
            differences = [Mismatch(action, POSSIBLE, message)]
        return {
            "n": number,
            "line": place.line,
            "title": step.note or _title(action, step),
            "passed": not differences,
            "message": message,
            "waited_ms": self._requests.waited_ms,
            "differences": [difference._asdict() for difference in differences],
            "responses": [response.report() for response in self._responses],
            "nearest": self._nearest,
        }

    def _refusals(self) -> list[Mismatch]:
        """Return the entries of the timeline that were refused since the last step."""
        refused = {key: entry for key, entry in self._engine.world.rows(TIMELINE) if entry.refused}
        differences = [
            Mismatch(f"timeline[{entry.order}]", POSSIBLE, entry.message)
            for key, entry in refused.items()
            if key not in self._refused
        ]
        self._refused = set(refused)
        return differences

    def _try(self, step: StepPart, action: str) -> Slices[tuple[str, list[Mismatch]]]:
        """Carry out a step. With `tries` its request is repeated until the response is as expected."""
        message = ""
        key_count = self._requests.key_count
        differences: list[Mismatch] = []
        for number in range(step.tries):
            if number:
                self._engine.move_by(self._pause_ms(step))
            self._requests.key_count = key_count  # a retry has the key of the first attempt
            self._mismatches = []
            self._responses = []
            self._nearest = []
            filled = self._with_values(step)
            if action == "together":
                message = yield from self._together(filled)
            elif action == "log":
                message = yield from self._log(filled)
            else:
                message = self._actions[action](filled)
            yield
            differences = self._mismatches
            if action in REQUESTS:
                differences = compare_response(step, self._last, self._variables, self._types)
            if not differences:
                break
        return message, differences

    def _pause_ms(self, step: StepPart) -> int:
        """Return the time before a retry: what the step says, or what the last response asks for."""
        if step.pause is not None:
            return parse_duration_ms(step.pause)
        seconds = self._last.header("Retry-After")
        seconds = seconds or self._last.at("progress.next_poll_after_seconds")
        return int(seconds) * 1000 if str(seconds).isdecimal() else 1000

    def _with_values(self, step: StepPart) -> StepPart:
        """Return a step with the values of its variables. Those of later comparisons stay."""
        values = {name: getattr(step, name) for name in _FILLED_FIELDS}
        filled = {name: self._variables.fill(value) for name, value in values.items() if value}
        return replace(step, **filled)

    # --- requests -------------------------------------------------------------------------------

    def _call(self, step: StepPart) -> str:
        (arrival,) = run_slices(self._requests.send([step]))
        return self._note_arrival(arrival)

    def _request(self, step: StepPart) -> str:
        method, _, url = str(step.request).partition(" ")
        if not is_page(url):
            return self._call(step)
        return self._note_arrival(self._requests.visit_page(step, method, url))

    def _together(self, step: StepPart) -> Slices[str]:
        steps = []
        for request in step.together or ():
            for _ in range(request.times):
                steps.append(self._with_values(request))
                yield
        arrivals = yield from self._requests.send(steps)
        messages = []
        for index, (request, arrival) in enumerate(zip(steps, arrivals, strict=True)):
            yield
            messages.append(self._note_arrival(arrival))
            differences = compare_response(request, arrival, self._variables, self._types)
            if not differences:
                differences = self._variables.save(request.save, arrival)
            for difference in differences:
                at = f"together[{index}].{difference.at}"
                self._mismatches.append(difference._replace(at=at))
        return ", ".join(messages)

    def _note_arrival(self, arrival: Arrival) -> str:
        """Take note of a response, and return in words what arrived."""
        self._last = arrival
        self._responses.append(arrival)
        reply = arrival.reply
        self._digest.update(b"%d %b\n" % (reply.status, reply.body))
        message = f"status {reply.status}"
        if arrival.lost:
            message = f"the response was lost ({arrival.lost})"
        if arrival.late_ms:
            return f"{message}, {format_duration(arrival.late_ms)} late"
        return message

    def _sign_in(self, step: StepPart) -> str:
        token = self._requests.mint(str(step.sign_in), step)
        lifetime_s = self._engine.token_lifetime_s
        document = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s}
        self._note_document(200, document)
        return f"{step.sign_in} has an access token for {lifetime_s} seconds"

    def _api_key(self, step: StepPart) -> str:
        user, organization_id = self._requests.user_and_organization(str(step.api_key), step)
        organization = self._engine.world.get(ORGANIZATIONS, organization_id or "")
        if organization is None:
            raise ValueError(f"{user.alias} has no organization here")
        body = step.body or {}
        name = str(body.get("name", "made by hand"))
        created = self._engine.make_key(user, organization, name, body.get("permissions"))
        self._note_document(201, created)
        return f"{user.alias} has an API key of {organization.alias}"

    def _note_document(self, status: int, document: Any) -> None:
        """Take a document for a response, so that its values can be saved and expected."""
        self._last = Arrival(Reply(status, msgspec.json.encode(document), headers=()))

    # --- manual changes, and steps that look at others -------------------------------------------

    def _arm(self, change_document: dict[str, Any]) -> str:
        id_ = self._changes.arm(change_document, self._place)
        self._note_document(0, {"id": id_})
        return f"{id_} armed"

    def _assume(self, step: StepPart) -> str:
        message = self._changes.assume({"assume": step.assume})
        self._note_warnings()
        return message

    def _note_warnings(self) -> None:
        self._warnings |= dict.fromkeys(warnings_of(self._engine.world.assumptions))

    def _check(self, step: StepPart) -> str:
        for name, expected in (step.check or {}).items():
            self._mismatches += judge(ANY, expected, self._variables.value_of(name), name)
        return ""

    def _log(self, step: StepPart) -> Slices[str]:
        expected = self._variables.fill(msgspec.to_builtins(step.log))
        result = yield from count_requests(self._engine, expected)
        self._mismatches += result.mismatches
        self._nearest = result.nearest
        return result.message


def _title(action: str, step: StepPart) -> str:
    if step.together is not None:
        titles = [
            _title(name, request)
            for request in step.together
            for name in REQUESTS
            if getattr(request, name)
        ]
        return " and ".join(titles)
    value = getattr(step, action, "")
    if action == "log":
        filters = msgspec.to_builtins(value)
        value = ", ".join(f"{name} {text}" for name, text in filters.items())
    if action == "check" and isinstance(value, dict):
        return f"check {', '.join(value)}"
    if action in PLANNED and isinstance(value, dict):
        return f"{action} {next(iter(value), '')}"
    user = f" as {step.user}" if step.user else ""
    if action == "call":
        return f"{value}{user}"
    return f"{action} {value}{user}"
