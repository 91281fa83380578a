"""From a scenario's parts to a world that is ready, with faults armed and timeline set.

What can be told to be wrong with faults, interventions and the story is told before they run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import LATEST_MS, parse_timestamp
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.patterns import Expression, PatternError, compile_pattern
from hosting_emulator.criteria.value_types import ANY, Impossible, ValueType
from hosting_emulator.faults.arming import arm, read_fault
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.faults.rule_resolution import moment_ms
from hosting_emulator.scenario.document import (
    PLANNED,
    ExpectPart,
    Scenario,
    SharedPart,
    StepPart,
)
from hosting_emulator.scenario.expectations import ResponseTypes, log_filters
from hosting_emulator.scenario.source import Mistakes, Path, Place, walk
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.default_population import with_extended_world
from hosting_emulator.world.population import new_world
from hosting_emulator.world.population_checks import find_mistakes
from hosting_emulator.world.population_parts import without_key_values
from hosting_emulator.world.records import TimelineEntry, WorldSource
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change, World

#: What a step of a story is about where it does not say; and what an id can be asked for by alias,
#: in a variable: `${project.shop}`.
USUAL = {"project": "shop", "organization": "acme", "user": "owner"}
#: Who asks without credentials.
NOBODY = "nobody"
#: What variables call the world's time.
NOW = "now"
#: A variable in a text; and the name of one that is some time before or after another (`now+10m`).
VARIABLE = re.compile(r"\$\{([^}]*)\}")
MOMENT = re.compile(r"(.+?)([+-])(\d[\d.a-z]*)")
#: How many steps a story may take, with those of its parts.
_MOST_STEPS = 20_000
_REQUEST = re.compile(r"[A-Z]+ (/|https?://|\$\{)\S*")
_ID = {noun: re.compile(f"{noun}-[1-9][0-9]*") for noun in ("fault", "outcome")}
_PATTERN_OF = re.compile(r"(\S+)(?: /(.+)/)?")


def build_world(scenario: Scenario, name: str, machine_ms: int, seed: str = DEFAULT_SEED) -> World:
    """Return the world of a scenario under a name. Raises ScenarioError, naming the place.

    `seed` is for one that names none: so loading it keeps the ids and keys in use.
    """
    part, top, mistakes = scenario.part, scenario.place, Mistakes()
    origin = _origin(scenario, mistakes)
    if part.world is not None:
        prefix, whole = origin.assumptions.key_prefix, with_extended_world(part.world)
        for path, message in find_mistakes(part.world, whole, LATEST_MS, prefix):
            mistakes.append((top / "world").below(path).error(message))
    mistakes.tell()  # without its world nothing else can be looked at
    with (top / "clock").refusals():
        world = new_world(name, part.seed or seed, origin, machine_ms, part.world)
    change = Change(world, world.at_ms)
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        for number, document in enumerate(getattr(part, section)):
            with mistakes.at(top / section / number):
                _check_no_variables(top / section / number, document)
                arm(change, document, family)
    for order, planned in enumerate(part.timeline):
        place, key = top / "timeline" / order, f"planned-{order + 1:04d}"
        action, found = next((a, f) for a in PLANNED if (f := getattr(planned, a)) is not None)
        with mistakes.at(place):
            _check_no_variables(place / action, found)
            _check_turn(place / action, found, change)
        with mistakes.at(place):
            (place / "call").check_word("call", planned.call, ALL_CALLS)
        document = without_key_values(found)
        if planned.optional and action != "intervene":
            document = {**document, "optional": True}
        record = TimelineEntry(
            order,
            action,
            document,
            planned.after_calls,
            planned.call,
            optional=planned.optional,
        )
        change.put(TIMELINE, key, record)
        due_ms = None if planned.at is None else moment_ms(planned.at, change.now_ms)
        if due_ms is not None:
            schedule_event(change, max(change.now_ms, due_ms), "timeline", key)
        elif planned.at is not None:
            message = f"{planned.at!r} is neither a duration after the start (10m) nor a timestamp"
            mistakes.append((place / "at").error(message))
    _StoryCheck(scenario, change, mistakes).check()
    variation = None
    with mistakes.at(top / "vary" / "seed"):
        if part.vary is not None:
            variation = read_variation(str(part.vary.seed))
            for number, point in enumerate(part.vary.only or ()):
                (top / "vary" / "only" / number).check_word("variation point", point, POINTS)
            variation = read_variation(str(part.vary.seed), part.vary.only)
    mistakes.tell()
    return varied_world(world if change.is_empty else change.applied(), variation)


def _origin(scenario: Scenario, mistakes: Mistakes) -> WorldSource:
    part, at_ms, assumptions = scenario.part, None, Assumptions()
    with mistakes.at(scenario.place / "clock" / "at"):
        at_ms = None if part.clock.at is None else parse_timestamp(part.clock.at)
    for name, value in part.assumptions.items():
        with mistakes.at(scenario.place / "assumptions" / name):
            assumptions = assumptions.changed({name: value})
    text, source = scenario.text, scenario.source
    if "keys" in text and (kept := without_key_values(source.data)) != source.data:
        text = msgspec.json.encode(kept).decode()
    chosen = tuple(part.assumptions)
    return WorldSource(
        part.clock.mode, part.clock.rate, at_ms, assumptions, text, source.file, chosen
    )


# --- What is wrong is said before it runs --------------------------------------------------------


def _check_no_variables(place: Place, found: Any) -> None:
    """Refuse variables where nothing has been saved yet."""
    for inner, name in _names_in(found):
        message = f"${{{name}}} is unknown here: only the steps of a story have variables"
        raise place.below(inner).error(message)


def _check_turn(place: Place, found: dict[str, Any], change: Change) -> None:
    """Check one of PLANNED without doing it, as far as that can be told beforehand."""
    if place.path[-1] == "intervene":
        with place.below([*found][:1]).refusals():
            read_intervention(found).check_names(change)
    elif not any(_names_in(found)):
        with place.refusals():
            read_fault(change.fork(), found, OUTCOME if place.path[-1] == "outcome" else FAULT)


class _StoryCheck:
    """Checks a story step by step, with what the steps before one have saved."""

    def __init__(self, scenario: Scenario, change: Change, mistakes: Mistakes) -> None:
        self._part, self._top = scenario.part, scenario.place
        self._change, self._mistakes = change, mistakes
        self._types = ResponseTypes(scenario.part)
        #: What has been saved, values and whole answers, in the order in which it was.
        self._saved: dict[str, None] = {}
        self._answers: dict[str, None] = {}
        #: The parts that may be used, with their places; and those that are.
        self._parts: dict[str, tuple[Place, SharedPart]] = {}
        self._used: set[str] = set()

    def check(self) -> None:
        """Check the story and its parts. Raises ScenarioError."""
        mistakes, top = self._mistakes, self._top / "parts"
        for number, planned in enumerate(self._part.timeline):
            place = self._top / "timeline" / number / "intervene"
            with mistakes.at(place):
                self._add(place, planned.intervene)
        counts: dict[str, int] = {}
        for number, shared in enumerate(self._part.parts):
            place, name = top / number / "steps", top / number / "name"
            if shared.name in counts:
                mistakes.append(name.error(f"the part {shared.name!r} is already defined above"))
            for inner, step in enumerate(shared.steps):
                use = place / inner / "use"
                with mistakes.at(use):
                    use.check_word("part above this one", step.use, counts)  # and so not itself
            counts[shared.name] = _count(place, shared.steps, counts)
            self._parts[shared.name] = (place, shared)
        if self._part.parts:
            mistakes.tell()  # a part that uses itself would be followed for ever
        _count(self._top / "story", self._part.story, counts)
        self._check_steps(self._top / "story", self._part.story)
        mistakes.tell()
        for number, shared in enumerate(self._part.parts):
            if shared.name not in self._used:
                message = f"the part {shared.name!r} is never used"
                raise (top / number / "name").error(message)

    def _add(self, place: Place, turn: dict[str, Any] | None) -> None:
        """Know of what an intervention adds, as far as that can be told beforehand."""
        if turn and "add" in turn and not any(_names_in(turn)):
            attempt = self._change.fork()
            with (place / "add").refusals():
                read_intervention(turn).apply(attempt)
            self._change = Change(attempt.applied(), attempt.now_ms)

    def _check_steps(self, place: Place, steps: Iterable[StepPart]) -> None:
        for number, step in enumerate(steps):
            self._check_step(place / number, step)

    def _check_step(self, place: Place, step: StepPart) -> None:
        mistakes = self._mistakes
        with mistakes.at(place):
            self._check_variables(place)
        with mistakes.at(place):
            self._check_action(place, step)
        if "add" in (step.intervene or {}):
            mistakes.tell()  # what was not added would be missed by other steps as well
        with mistakes.at(place):
            self._check_subjects(place, step)
        with mistakes.at(place):
            if step.expect is not None:
                self._check_expect(place / "expect", step, step.expect)
        self._check_steps(place / "together", step.together or ())
        with mistakes.at(place):
            (place / "use").check_word("part", step.use, self._parts)
            if step.use is not None:
                self._used.add(step.use)
                inner, shared = self._parts[step.use]
                own = [name for name in step.with_ if name not in self._saved]
                self._saved |= dict.fromkeys(step.with_)
                self._check_steps(inner, shared.steps)
                for name in own:
                    self._saved.pop(name)
        for name, saved_as in step.save.items():
            with mistakes.at(place / "save" / name):
                if name == NOW:
                    raise ValueError(f"{name!r} is the world's time: save it as another")
                read_saved(saved_as)
            (self._answers if saved_as == "response" else self._saved)[name] = None

    def _check_variables(self, place: Place) -> None:
        for inner, name in _names_in(place.value):
            index, _, alias = name.partition(".")
            moment = MOMENT.fullmatch(name)
            if moment is not None and name not in self._saved:
                with place.below(inner).refusals():
                    parse_duration_ms(moment[3])
                name = moment[1]
            if name in self._saved or name == NOW:
                continue
            if index in USUAL and alias:
                place.below(inner).check_word(index, alias, self._aliases(index))
                continue
            saved = ", ".join(self._saved) or "nothing"
            hint = nearest(name, self._saved) or f"; saved so far is {saved}"
            raise place.below(inner).error(f"there is no ${{{name}}}{hint}")

    def _aliases(self, index: str) -> list[str]:
        indexes = self._change.world.indexes
        return sorted(key.split(":")[1] for key in indexes if key.startswith(f"{index}:"))

    def _check_action(self, place: Place, step: StepPart) -> None:
        (place / "call").check_word("call", step.call, CALLS)
        if step.request is not None:
            if not _REQUEST.fullmatch(step.request):
                message = "a request needs a method and a path, such as GET /v1/projects"
                raise (place / "request").error(message)
            if is_page(step.request.partition(" ")[2]) and "together" in place.path:
                message = "pages cannot be visited together, only API requests can"
                raise (place / "request").error(message)
        for action in PLANNED:
            if (turn := getattr(step, action)) is not None:
                _check_turn(place / action, turn, self._change)
        self._add(place / "intervene", step.intervene)
        for field in ("advance", "to", "pause"):
            text = getattr(step, field)
            if text is not None and ("${" not in text or field == "pause"):
                with (place / field).refusals():
                    parse_timestamp(text) if field == "to" else parse_duration_ms(text)
        for name, value in (step.assume or {}).items():
            with (place / "assume" / name).refusals():
                if not any(_names_in(value)):
                    Assumptions().changed({name: value})
        for name in step.check or {}:
            (place / "check" / name).check_word("saved value", name, self._saved)
        for name, value in (step.check or {}).items():
            _check_value(place / "check" / name, ANY, value)
        if step.log is not None:
            self._check_log(place / "log")
        self._check_ids(place, step)
        if step.api_key is not None:
            self._check_made_key(place / "body", step.body)

    def _check_ids(self, place: Place, step: StepPart) -> None:
        """Refuse an id of an operation, a fault or an outcome that none can have."""
        if step.until is not None and "${" not in step.until and not is_ulid(step.until):
            raise (place / "until").error(f"{step.until[:80]!r} is not the id of an operation")
        for field, an, noun in (
            ("remove_fault", "a", "fault"),
            ("remove_outcome", "an", "outcome"),
        ):
            text = getattr(step, field)
            if text is not None and "${" not in text and not _ID[noun].fullmatch(text):
                message = f"{text[:80]!r} is not the id of {an} {noun}: write it like {noun}-1"
                raise (place / field).error(message)

    def _check_made_key(self, place: Place, body: Any) -> None:
        """Refuse what an API key that is made by hand does not have."""
        if body is UNSET:
            return
        if not isinstance(body, dict):
            raise place.error("the body of api_key is a mapping with name and permissions")
        for name in body:
            if name not in ("name", "permissions"):
                hint = (
                    nearest(str(name), ("name", "permissions")) or "; there are name, permissions"
                )
                raise (place / name).error(f"an API key has no field {name!r} here{hint}", key=True)

    def _check_log(self, place: Place) -> None:
        filters = log_filters(self._named("user"), self._named("project"))
        for name, value in place.value.items():
            _check_value(place / name, filters[name], value)

    def _named(self, index: str) -> dict[str, str]:
        """Return the ids of users or projects by their aliases."""
        ids = self._change.world.indexes
        return {alias: str(ids[f"{index}:{alias}"]) for alias in self._aliases(index)}

    def _check_subjects(self, place: Place, step: StepPart) -> None:
        """Check the aliases of a step, and that what it leaves to the defaults is there."""
        spec = CALLS.get(step.call or "")
        needed: set[str] = {spec.subject} if spec else set()
        if step.token is None and (step.call or step.poll):
            needed.add("user")
        acting = (name for name in ("sign_in", "api_key") if getattr(step, name) is not None)
        for index, field in zip(
            USUAL, ("project", "organization", next(acting, "user")), strict=True
        ):
            alias = getattr(step, field)
            if alias is not None:
                self._check_alias(place / field, index, alias)
            elif index in needed and USUAL[index] not in (known := self._aliases(index)):
                there_are = ", ".join(known) or "none"
                raise place.error(f"name the {index} with `{field}`: there are {there_are}")

    def _check_alias(self, place: Place, index: str, alias: str) -> None:
        nobody = alias == NOBODY and place.path[-1] == "user"
        there = self._change.world.indexes.get(f"{index}:{alias}") is not None
        if not nobody and not there and "${" not in alias:
            place.check_word(index, alias, self._aliases(index))

    def _check_expect(self, place: Place, step: StepPart, expect: ExpectPart) -> None:
        if isinstance(expect.same_as, str):
            (place / "same_as").check_word("saved answer", expect.same_as, self._answers)
        try:
            self._types.check(step, expect, place.value)
        except Impossible as error:
            raise place.below(error.path).error(str(error), key=error.key) from None
        except PatternError as error:  # it could not be held against the words that are possible
            raise place.error(str(error)) from None


def _count(place: Place, steps: Iterable[StepPart], counts: Mapping[str, int]) -> int:
    """Count steps, those of parts as often as they are used. Raises ScenarioError if they are too many."""
    total = sum(counts.get(step.use or "", 0) * step.times or 1 for step in steps)
    if total > _MOST_STEPS:
        raise place.error(f"with all parts this is more than {_MOST_STEPS} steps")
    return total


def read_saved(text: str) -> tuple[str, Expression | None]:
    """Return the place in the answer that `save` takes, and its pattern, if any. Raises ValueError."""
    found = _PATTERN_OF.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a place: write it like key.id or headers.Location /code=(.+)/"
        )
    return found[1], None if found[2] is None else compile_pattern(found[2])


def is_page(url: str) -> bool:
    """Tell whether a URL leads to a page of the emulator, and not to the API."""
    return not url.startswith("/") or url.startswith("/_emulator/")


def _check_value(place: Place, kind: ValueType, value: Any) -> None:
    """Refuse a value that can never match. Raises ScenarioError."""
    try:
        check(kind, value, variables=True)
    except Impossible as error:
        raise place.below(error.path).error(str(error), key=error.key) from None
    except PatternError as error:  # it could not be held against the words that are possible
        raise place.error(str(error)) from None


def texts_in(found: Any) -> Iterator[tuple[Path, str]]:
    """Walk all texts of a value, each with the path to it."""
    return ((path, text) for path, text in walk(found) if isinstance(text, str))


# --- Variables -----------------------------------------------------------------------------------


def _names_in(found: Any) -> Iterator[tuple[Path, str]]:
    """Walk all variables in a value: the path to the text each stands in, and its name."""
    yield from ((path, name) for path, text in texts_in(found) for name in VARIABLE.findall(text))
