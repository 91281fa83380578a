"""Shrinking a scenario: the fewest steps and parts of it with which one step is answered as it expects."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from hosting_emulator.scenario.arrival import PageHandler
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.scenario.recording.responses import any_response
from hosting_emulator.scenario.source import KeyPath
from hosting_emulator.scenario.step_keys import REQUESTS
from hosting_emulator.scenario.step_titles import title_of
from hosting_emulator.scenario.story import run_document
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator_lab.delta_debugging import read_target, smallest

#: What can be left out of a scenario, one by one: items of lists, and names of mappings.
_SECTIONS: tuple[KeyPath, ...] = (
    ("story",),
    ("assumptions",),
    ("faults",),
    ("outcomes",),
    ("timeline",),
    ("world", "projects"),
    ("world", "users"),
)
#: What tells a step: `n=12`, or what it does and expects.
FIELDS = ("status", "code", "call", "n")


class NotKept(ValueError):
    """No step is the one that is to stay, or it fails already; the message says which or why."""


class SmallestScenario(NamedTuple):
    """What is left of a scenario, with the number of its steps, and of how many, in how many runs.

    `finished`: without any one or two of them the last step is not answered as it expects.
    """

    text: str
    steps: int
    of: int
    runs: int
    finished: bool


def shrink_scenario(
    scenario: Scenario, keeps: str, *, max_runs: int = 500, visit: PageHandler | None = None
) -> SmallestScenario:
    """Find the fewest steps, faults and other parts with which a step still is answered so.

    `keeps` tells the step by words (FIELDS): the first that expects them, or the one of that number.
    It is the last one then; of the others an expectation stays where it still holds. Raises NotKept.
    """
    target = _target(scenario, keeps)
    whole = {**scenario.source.data, "story": scenario.source.data["story"][: target + 1]}
    last, places = ("story", target), list[KeyPath]()
    for section in _SECTIONS:
        found: Any = whole
        for name in section:
            found = found.get(name) or {}
        names = found if isinstance(found, dict) else range(len(found))
        places += [place for name in names if (place := (*section, name)) != last]

    def failed(kept: Collection[KeyPath]) -> str | None:
        reduced = _with_used_parts(_reduced(whole, {*kept, last}))
        try:
            report = run_document(reduced, visit, ("story", len(reduced["story"]) - 1))
        except ScenarioError as error:
            return error.message
        differences = () if report["passed"] else report["steps"][-1]["differences"]
        return "; ".join(f"{one['at']} is {one['found']!r}" for one in differences) or None

    why = failed(places)
    if why is not None:
        raise NotKept(f"step {target + 1} does not get the response it expects: {why}")
    left, runs, finished = tuple[KeyPath, ...](), 2, True
    if places and failed(()) is not None:
        smaller = smallest(places, lambda kept: failed(kept) is None, max_runs, try_pairs=True)
        left, runs, finished = smaller.items, runs + smaller.tries, smaller.finished
    document = _true(_with_used_parts(_reduced(whole, {*left, last})), visit)
    story = document["story"]
    if len(left) < len(places) or len(story) < len(scenario.part.story):
        document["description"] = _description(scenario, target)
    return SmallestScenario(
        write_yaml(document), len(story), len(scenario.part.story), runs, finished
    )


def _description(scenario: Scenario, target: int) -> str:
    """Return the description of what is left: the old one describes steps that are gone."""
    step = scenario.part.story[target]
    action = next(name for name in REQUESTS if getattr(step, name) is not None)
    title = step.note or title_of(action, step)
    return f"Step {target + 1} of the longer story {scenario.part.name} ({title}), with all that it needs."


def _target(scenario: Scenario, keeps: str) -> int:
    example = "name a step, such as status=409 code=idempotency_key_reused or n=12"
    try:
        given = read_target(keeps, FIELDS, example)
    except ValueError as error:
        raise NotKept(str(error)) from None
    for number, step in enumerate(scenario.part.story):
        expect = step.expect
        told: dict[str, Any] = {"n": number + 1, "call": step.call}
        told |= {"status": expect and expect.status, "code": expect and expect.code}
        asks = any(getattr(step, action) is not None for action in REQUESTS)
        if asks and all(str(told[name]) == value for name, value in given.items()):
            return number
    raise NotKept(f"no step is a request that expects {keeps}")


def _reduced(
    document: dict[str, Any], kept: Collection[KeyPath], at: KeyPath = ()
) -> dict[str, Any]:
    """Return a scenario with nothing in its sections but what is kept."""
    reduced: dict[str, Any] = {}
    for name, value in document.items():
        path = (*at, name)
        if path in _SECTIONS and isinstance(value, dict):
            value = {key: one for key, one in value.items() if (*path, key) in kept}
        elif path in _SECTIONS:
            value = [one for place, one in enumerate(value) if (*path, place) in kept]
        elif path == ("world",):
            value = _reduced(value, kept, path)
        if path not in _SECTIONS or value:
            reduced[name] = value
    return reduced


def _with_used_parts(document: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with the parts that its story still uses, itself or through another."""
    used, parts = {step.get("use") for step in document["story"]}, list[Any]()
    for part in reversed(document.get("parts", [])):
        if part["name"] in used:
            used |= {step.get("use") for step in part["steps"]}
            parts.insert(0, part)
    rest = {name: value for name, value in document.items() if name != "parts"}
    return {**document, "parts": parts} if parts else rest


def _true(document: dict[str, Any], visit: PageHandler | None) -> dict[str, Any]:
    """Return a scenario without the expectations and saves that make no sense any more."""
    story = [dict(step) for step in document["story"]]
    document = {**document, "story": story}
    for _ in story:
        step = run_document(document, visit)["steps"][-1]
        if step["passed"] or step["line"] < 2:
            break
        failing = story[step["line"] - 2]
        lost = failing.get("expect", {}).get("lost")
        for difference in step["differences"]:
            lost = difference["found"] if difference["at"] == "lost" else lost
        failing["expect"] = any_response() if lost is None else {"lost": lost}
    text = json.dumps([{**step, "save": None} for step in story])
    for step in story:
        saved = {name: path for name, path in step.pop("save", {}).items() if _is_used(name, text)}
        if saved:
            step["save"] = saved
    return document


def _is_used(name: str, text: str) -> bool:
    """Return whether the text of a story contains the name of a saved value."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
