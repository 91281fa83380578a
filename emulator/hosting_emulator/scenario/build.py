"""From a scenario's parts to a world that is ready, with faults armed and timeline set.

What can be told to be wrong with faults, interventions and the story is told before they run; that
does nothing in the world, and whether a step succeeds is found out by running it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.contract.doors import REDEEM_TICKET
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp
from hosting_emulator.contract.words import nearest
from hosting_emulator.faults.documents import FAULT, METHODS, OUTCOME, arm, read_fault
from hosting_emulator.interventions import read_intervention
from hosting_emulator.scenario.compare import COMPARISONS, half_comparisons, pattern_of
from hosting_emulator.scenario.document import (
    PLANNED,
    ExpectPart,
    LogPart,
    Scenario,
    SharedPart,
    StepPart,
)
from hosting_emulator.scenario.source import Mistakes, Path, Place
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.naming import noun_of
from hosting_emulator.world.operations import schedule_event
from hosting_emulator.world.population import mistakes_in, new_world, without_values
from hosting_emulator.world.records import Origin, TimelineEntry, Variation
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change, World

#: What a step of a story is about where it does not say; and what an id can be asked for by alias,
#: in a variable: `${project.shop}`.
USUAL = {"project": "shop", "organization": "acme", "person": "owner"}
#: Who asks without credentials.
NOBODY = "nobody"
#: What variables call the world's time.
NOW = "now"
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_MOMENT = re.compile(r"(.+?)([+-])(\d[\d.a-z]*)")
#: How many steps a story may take, with those of its parts.
_MOST_STEPS = 20_000
_REQUEST = re.compile(r"[A-Z]+ (/|https?://|\$\{)\S*")
_PATTERN_OF = re.compile(r"(\S+)(?: /(.+)/)?")


def build_world(scenario: Scenario, name: str, machine_ms: int, seed: str = DEFAULT_SEED) -> World:
    """Return the world of a scenario under a name. Raises ScenarioError, naming the place.

    The scenario's own seed comes first; `seed` is for one that names none, so that loading it keeps
    the ids and keys that people already use.
    """
    part, top, mistakes = scenario.part, scenario.place, Mistakes()
    origin = _origin(scenario, mistakes)
    if part.world is not None:
        prefix, whole = origin.assumptions.key_prefix, part.world.whole()
        for path, message in mistakes_in(part.world, whole, LATEST_MS, prefix):
            with mistakes.collected():
                raise (top / "world").below(path).error(message)
    mistakes.tell()  # without its world nothing else can be looked at
    with (top / "clock").refusals():
        world = new_world(name, part.seed or seed, origin, machine_ms, part.world)
    change = Change(world, world.at_ms)
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        for number, document in enumerate(getattr(part, section)):
            place = top / section / number
            with mistakes.collected():
                _check_no_variables(place, document)
                with place.refusals():
                    arm(change, document, family)
    _plan(scenario, change, mistakes)
    _check_story(scenario, change, mistakes)
    with mistakes.collected():
        variation = _variation(scenario)
    mistakes.tell()
    return varied_world(world if change.empty else change.applied(), variation)


def _origin(scenario: Scenario, mistakes: Mistakes) -> Origin:
    part, at_ms, assumptions = scenario.part, None, Assumptions()
    if part.clock.at is not None:
        with mistakes.collected(), (scenario.place / "clock" / "at").refusals():
            at_ms = parse_timestamp(part.clock.at)
    for name, value in part.assumptions.items():
        with mistakes.collected(), (scenario.place / "assumptions" / name).refusals():
            assumptions = assumptions.changed({name: value})
    clock, chosen = part.clock, tuple(part.assumptions)
    text = scenario.text
    if "keys" in text and (kept := without_values(scenario.source.data)) != scenario.source.data:
        text = msgspec.json.encode(kept).decode()
    file = scenario.source.file
    return Origin(clock.mode, clock.rate, at_ms, assumptions, text, file, chosen)


def _variation(scenario: Scenario) -> Variation | None:
    vary, place = scenario.part.vary, scenario.place / "vary"
    if vary is None:
        return None
    with (place / "seed").refusals():
        read_variation(str(vary.seed))
    for number, name in enumerate(vary.only or ()):
        (place / "only" / number).check_word("variation point", name, POINTS)
    return read_variation(str(vary.seed), vary.only)


def _plan(scenario: Scenario, change: Change, mistakes: Mistakes) -> None:
    for order, planned in enumerate(scenario.part.timeline):
        place = scenario.place / "timeline" / order
        action, found = next((a, f) for a in PLANNED if (f := getattr(planned, a)) is not None)
        with mistakes.collected():
            _check_no_variables(place / action, found)
            _check_turn(place / action, found, change)
        with mistakes.collected():
            if planned.call is not None:
                (place / "call").check_word("call", planned.call, ALL_CALLS)
        key = f"planned-{order + 1:04d}"
        kept = without_values(found)
        record = TimelineEntry(order, action, kept, planned.after_calls, planned.call)
        change.put(TIMELINE, key, record)
        with mistakes.collected():
            if planned.at is not None:
                due_ms = _moment(place / "at", planned.at, change.now_ms)
                schedule_event(change, due_ms, "timeline", key)


def _moment(place: Place, text: str, now_ms: int) -> int:
    try:
        return now_ms + parse_duration_ms(text)
    except ValueError:
        pass
    try:
        return max(now_ms, parse_timestamp(text))
    except ValueError:
        message = f"{text!r} is neither a duration after the start (10m) nor a timestamp"
        raise place.error(message) from None


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


class _Known:
    """What the steps before one have saved."""

    def __init__(self, change: Change, mistakes: Mistakes) -> None:
        self.change, self.mistakes = change, mistakes
        self.saved: dict[str, None] = {}
        self.answers: dict[str, None] = {}
        #: The parts that may be used, with their places; and those that are.
        self.parts: dict[str, tuple[Place, SharedPart]] = {}
        self.used: set[str] = set()

    def add(self, place: Place, turn: dict[str, Any] | None) -> None:
        """Know of what an intervention adds, as far as that can be told beforehand."""
        if turn and "add" in turn and not any(_names_in(turn)):
            attempt = self.change.fork()
            with (place / "add").refusals():
                read_intervention(turn).apply(attempt)
            self.change = Change(attempt.applied(), attempt.now_ms)


def _check_story(scenario: Scenario, change: Change, mistakes: Mistakes) -> None:
    known, top, part = _Known(change, mistakes), scenario.place / "parts", scenario.part
    for number, planned in enumerate(part.timeline):
        with mistakes.collected():
            known.add(scenario.place / "timeline" / number / "intervene", planned.intervene)
    counts: dict[str, int] = {}
    for number, shared in enumerate(part.parts):
        place = top / number / "steps"
        with mistakes.collected():
            if shared.name in counts:
                name = top / number / "name"
                raise name.error(f"the part {shared.name!r} is already defined above")
        for inner, step in enumerate(shared.steps):
            if step.use is not None:  # and so none can use itself
                with mistakes.collected():
                    (place / inner / "use").check_word("part above this one", step.use, counts)
        counts[shared.name] = _count(place, shared.steps, counts)
        known.parts[shared.name] = (place, shared)
    if part.parts:
        mistakes.tell()  # a part that uses itself would be followed for ever
    _count(scenario.place / "story", part.story, counts)
    _check_steps(scenario.place / "story", part.story, known)
    mistakes.tell()
    for number, shared in enumerate(part.parts):
        if shared.name not in known.used:
            raise (top / number / "name").error(f"the part {shared.name!r} is never used")


def _count(place: Place, steps: Iterable[StepPart], counts: Mapping[str, int]) -> int:
    """Count steps, those of parts as often as they are used. Raises ScenarioError if they are too many."""
    total = sum(counts.get(step.use or "", 0) * step.times or 1 for step in steps)
    if total > _MOST_STEPS:
        raise place.error(f"with all parts this is more than {_MOST_STEPS} steps")
    return total


def _check_steps(place: Place, steps: Iterable[StepPart], known: _Known) -> None:
    for number, step in enumerate(steps):
        _check_step(place / number, step, known)


def _check_step(place: Place, step: StepPart, known: _Known) -> None:
    collected = known.mistakes.collected
    with collected():
        _check_variables(place, known)
    with collected():
        _check_action(place, step, known)
    if "add" in (step.intervene or {}):
        known.mistakes.tell()  # what was not added would be missed by other steps as well
    with collected():
        _check_who_and_what(place, step, known.change)
    with collected():
        if step.expect is not None:
            _check_expect(place / "expect", step.expect, known.answers)
    _check_steps(place / "together", step.together or (), known)
    with collected():
        if step.use is not None:
            (place / "use").check_word("part", step.use, known.parts)
            known.used.add(step.use)
            inner, shared = known.parts[step.use]
            own = [name for name in step.with_ if name not in known.saved]
            known.saved |= dict.fromkeys(step.with_)
            _check_steps(inner, shared.steps, known)
            for name in own:
                known.saved.pop(name)
    for name, saved_as in step.save.items():
        with collected(), (place / "save" / name).refusals():
            if name == NOW:
                raise ValueError(f"{name!r} is the world's time: save it as another")
            read_saved(saved_as)
        (known.answers if saved_as == "answer" else known.saved)[name] = None


def read_saved(text: str) -> tuple[str, re.Pattern[str] | None]:
    """Return what `save` takes: its place in the answer, and the pattern whose first group it is.

    Raises ValueError.
    """
    found = _PATTERN_OF.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a place: write it like key.id or headers.Location /code=(.+)/"
        )
    try:
        pattern = re.compile(found[2]) if found[2] else None
    except re.error as error:
        raise ValueError(f"{text!r} is not a valid regular expression: {error}") from None
    return found[1], pattern


def _check_variables(place: Place, known: _Known) -> None:
    for inner, name in _names_in(place.value):
        index, _, alias = name.partition(".")
        moment = _MOMENT.fullmatch(name)
        if moment is not None and name not in known.saved:
            with place.below(inner).refusals():
                parse_duration_ms(moment[3])
            name = moment[1]
        if name in known.saved or name == NOW:
            continue
        if index in USUAL and alias:
            place.below(inner).check_word(index, alias, _aliases(known.change, index))
            continue
        saved = known.saved
        hint = nearest(name, saved) or f"; saved so far is {', '.join(saved) or 'nothing'}"
        raise place.below(inner).error(f"there is no ${{{name}}}{hint}")


def _aliases(change: Change, index: str) -> list[str]:
    found = [key.split(":")[1] for key in change.world.indexes if key.startswith(f"{index}:")]
    return sorted(found)


def _check_action(place: Place, step: StepPart, known: _Known) -> None:
    if step.call is not None:
        (place / "call").check_word("call", step.call, CALLS)
    if step.request is not None and not _REQUEST.fullmatch(step.request):
        raise (place / "request").error(
            "a request needs a method and a path, such as GET /v1/projects"
        )
    page = step.request is not None and is_page(step.request.partition(" ")[2])
    if page and "together" in place.path:
        raise (place / "request").error("pages cannot be visited together, only API requests can")
    for action in PLANNED:
        if (turn := getattr(step, action)) is not None:
            _check_turn(place / action, turn, known.change)
    known.add(place / "intervene", step.intervene)
    with (place / ("to" if step.advance is None else "advance")).refusals():
        if step.advance is not None and "${" not in step.advance:
            parse_duration_ms(step.advance)
        if step.to is not None and "${" not in step.to:
            parse_timestamp(step.to)
    if step.pause is not None:
        with (place / "pause").refusals():
            parse_duration_ms(step.pause)
    for name, value in (step.assume or {}).items():
        with (place / "assume" / name).refusals():
            if not any(_names_in(value)):
                Assumptions().changed({name: value})
    for name in step.check or {}:
        (place / "check" / name).check_word("saved value", name, known.saved)
    if step.check is not None:
        _check_values(place / "check")
    if step.log is not None:
        _check_log(place / "log", step.log, known.change)


def is_page(url: str) -> bool:
    """Tell whether a URL leads to a page of the emulator, and not to the API."""
    return not url.startswith("/") or url.startswith("/_emulator/")


def _check_who_and_what(place: Place, step: StepPart, change: Change) -> None:
    """Check the aliases of a step, and that what it leaves to the defaults is there."""
    spec = CALLS.get(step.call or "")
    needed: set[str] = {spec.subject} if spec else set()
    if step.token is None and (step.call or step.poll):
        needed.add("person")
    said = {
        "person": next(
            (name, alias)
            for name, alias in (
                ("sign_in", step.sign_in),
                ("api_key", step.api_key),
                ("as", step.who),
            )
            if alias is not None or name == "as"
        ),
        "project": ("project", step.project),
        "organization": ("organization", step.organization),
    }
    for index, (field, alias) in said.items():
        if alias is not None:
            _check_alias(place / field, index, alias, change)
        elif index in needed and USUAL[index] not in (known := _aliases(change, index)):
            there_are = ", ".join(known) or "none"
            raise place.error(f"name the {noun_of(index)} with `{field}`: there are {there_are}")


def _check_alias(place: Place, index: str, alias: str, change: Change) -> None:
    nobody = alias == NOBODY and place.path[-1] == "as"
    if not nobody and "${" not in alias and change.world.indexes.get(f"{index}:{alias}") is None:
        place.check_word(noun_of(index), alias, _aliases(change, index))


def _check_expect(place: Place, expect: ExpectPart, answers: Iterable[str]) -> None:
    for code in expect.code if isinstance(expect.code, list) else filter(None, [expect.code]):
        (place / "code").check_word("problem code", code, PROBLEMS)
    if expect.same_as is not None:
        (place / "same_as").check_word("saved answer", expect.same_as, answers)
    _check_comparisons(place, ("status", "items"))
    if expect.headers:
        _check_comparisons(place / "headers", expect.headers)
    _check_values(place)


def _check_log(place: Place, log: LogPart, change: Change) -> None:
    words = {"call": (*ALL_CALLS, REDEEM_TICKET), "code": tuple(PROBLEMS), "method": METHODS}
    for name, known in words.items():
        if isinstance(value := getattr(log, name), str) and pattern_of(value) is None:
            (place / name).check_word(name, value, (*known, "*"))
    for field, index, alias in (("project", "project", log.project), ("as", "person", log.who)):
        if isinstance(alias, str) and alias != "*" and pattern_of(alias) is None:
            _check_alias(place / field, index, alias, change)
    _check_comparisons(place, place.value)
    _check_values(place)


def _check_comparisons(place: Place, names: Iterable[str]) -> None:
    """Check mappings that can be nothing but comparisons."""
    for name in names:
        value = place.value.get(name)
        for word in value if isinstance(value, dict) else ():
            (place / name / word).check_word("comparison", word, COMPARISONS)


def _check_values(place: Place) -> None:
    """Check the patterns and comparisons in what is expected."""
    for inner, wrong in half_comparisons(place.value):
        raise place.below(inner).error(wrong, key=True)
    for inner, text in texts_in(place.value):
        try:
            re.compile(pattern_of(text) or "")
        except re.error as error:
            message = f"{text!r} is not a regular expression: {error}"
            raise place.below(inner).error(message) from None


def texts_in(found: Any) -> Iterator[tuple[Path, str]]:
    """Walk all texts of a value, each with the path to it."""
    if isinstance(found, str):
        yield (), found
    pairs: Iterable[tuple[Any, Any]] = found.items() if isinstance(found, dict) else ()
    if isinstance(found, list):
        pairs = enumerate(found)
    for name, value in pairs:
        yield from (((name, *path), text) for path, text in texts_in(value))


# --- Variables -----------------------------------------------------------------------------------


def _names_in(found: Any) -> Iterator[tuple[Path, str]]:
    """Walk all variables in a value: the path to the text each stands in, and its name."""
    yield from ((path, name) for path, text in texts_in(found) for name in _VARIABLE.findall(text))


def moved(name: str, look_up: Callable[[str], Any]) -> str | None:
    """Return the timestamp that a variable such as `now+10m` is; None: it is no such variable.

    Raises ValueError when what is saved under its name is no timestamp.
    """
    found = _MOMENT.fullmatch(name)
    if found is None:
        return None
    by_ms = parse_duration_ms(found[3])
    at_ms = parse_timestamp(str(look_up(found[1])))
    return format_timestamp(at_ms + (by_ms if found[2] == "+" else -by_ms))


def fill(found: Any, look_up: Callable[[str], Any]) -> Any:
    """Put values in the place of variables. A text that is one variable takes the value's type."""
    if isinstance(found, dict):
        return {name: fill(value, look_up) for name, value in found.items()}
    if isinstance(found, list):
        return [fill(item, look_up) for item in found]
    if not isinstance(found, str) or "${" not in found:
        return found
    whole = _VARIABLE.fullmatch(found)
    if whole:
        return look_up(whole.group(1))
    return _VARIABLE.sub(lambda match: str(look_up(match.group(1))), found)
