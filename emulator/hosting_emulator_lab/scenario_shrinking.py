"""Finds the smallest scenario in which one step still gets the response that it expects."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from hosting_emulator.contract.value_texts import quoted_value
from hosting_emulator.scenario.arrival import PageHandler
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.scenario.recording.responses import any_response
from hosting_emulator.scenario.source import KeyPath
from hosting_emulator.scenario.step_keys import REQUESTS
from hosting_emulator.scenario.step_titles import title_of
from hosting_emulator.scenario.story import run_document
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator_lab.delta_debugging import smallest

#: The lists and mappings of a scenario whose items can be left out singly.
_SECTIONS: tuple[KeyPath, ...] = (
    ("story",),
    ("assumptions",),
    ("faults",),
    ("outcomes",),
    ("timeline",),
    ("world", "projects"),
    ("world", "users"),
)
#: The words that select a step: what it expects, the call it makes, or its number.
FIELDS = ("status", "code", "call", "n")
#: The number of runs before the search: of the whole scenario, and of its selected step alone.
_RUNS_BEFORE_SEARCH = 2


class ShrinkRefused(ValueError):
    """A scenario cannot be shrunk. The message gives the reason: no step is selected, or the step fails."""


class SmallestScenario(NamedTuple):
    """A scenario with the fewest parts, as YAML.

    `steps` is the number of its steps, and `original_steps` that of the whole scenario. `runs` is the
    number of stories that were run. If `finished` is true, no part and no two parts can be left out
    without changing the response to the last step.
    """

    text: str
    steps: int
    original_steps: int
    runs: int
    finished: bool


def shrink_scenario(
    scenario: Scenario, step: str, *, max_runs: int = 500, visit: PageHandler | None = None
) -> SmallestScenario:
    """Find the fewest parts of a scenario with which a step still gets its expected response.

    `step` selects the step with words such as `status=409 call=apply_project_domains`: the first
    step that expects them, or step number `n`. The selected step becomes the last step. Other steps
    keep the expectations that still hold. The story is run at most `max_runs` times, but at least
    twice. `visit` requests pages for the story.

    Raises ShrinkRefused if no step is selected, or if the selected step fails already.
    """
    target = _select_step(scenario, step)
    whole = {**scenario.source.data, "story": scenario.source.data["story"][: target + 1]}
    last_step: KeyPath = ("story", target)
    parts = [path for path in _removable_parts(whole) if path != last_step]

    def failure_with(kept_parts: Collection[KeyPath]) -> str | None:
        return _failure_of_last_step(_reduced(whole, {*kept_parts, last_step}), visit)

    failure = failure_with(parts)
    if failure is not None:
        raise ShrinkRefused(f"step {target + 1} does not get the response it expects: {failure}")
    kept_parts: tuple[KeyPath, ...] = ()
    runs = _RUNS_BEFORE_SEARCH
    finished = True
    if parts and failure_with(()) is not None:
        most_tries = max(0, max_runs - _RUNS_BEFORE_SEARCH)
        result = smallest(
            parts, lambda subset: failure_with(subset) is None, most_tries, try_pairs=True
        )
        kept_parts = result.items
        runs += result.tries
        finished = result.finished
    document = _with_true_expectations(_reduced(whole, {*kept_parts, last_step}), visit)
    original_steps = len(scenario.part.story)
    if len(kept_parts) < len(parts) or len(document["story"]) < original_steps:
        document["description"] = _description(scenario, target)
    return SmallestScenario(
        write_yaml(document), len(document["story"]), original_steps, runs, finished
    )


# --- The selected step -----------------------------------------------------------------------------


def _select_step(scenario: Scenario, words: str) -> int:
    """Return the index of the first request that matches the words. Raises ShrinkRefused."""
    criteria = _read_criteria(words)
    for index, step in enumerate(scenario.part.story):
        if not any(getattr(step, action) is not None for action in REQUESTS):
            continue
        properties: dict[str, Any] = {"n": index + 1, "call": step.call}
        if step.expect is not None:
            properties["status"] = step.expect.status
            properties["code"] = step.expect.code
        if all(str(properties.get(name)) == value for name, value in criteria.items()):
            return index
    raise ShrinkRefused(f"no step is a request that expects {words}")


def _read_criteria(words: str) -> dict[str, str]:
    """Read words of the form `name=value`. Raises ShrinkRefused."""
    criteria: dict[str, str] = {}
    for word in words.split():
        name, _, value = word.partition("=")
        if name not in FIELDS or not value:
            forms = ", ".join(f"{field}=…" for field in FIELDS)
            raise ShrinkRefused(f"{word!r} is not one of {forms}")
        criteria[name] = value
    if not criteria:
        raise ShrinkRefused("name a step, such as status=409 code=idempotency_key_reused or n=12")
    return criteria


def _description(scenario: Scenario, target: int) -> str:
    """Return a new description, because the old description may describe steps that are left out."""
    step = scenario.part.story[target]
    action = next(name for name in REQUESTS if getattr(step, name) is not None)
    title = step.note or title_of(action, step)
    return (
        f"Step {target + 1} of the longer story {scenario.part.name} ({title}), "
        "with all that it needs."
    )


# --- Parts of a scenario ---------------------------------------------------------------------------


def _removable_parts(document: dict[str, Any]) -> list[KeyPath]:
    """Return the paths of all items that can be left out of a scenario."""
    parts: list[KeyPath] = []
    for section in _SECTIONS:
        value: Any = document
        for name in section:
            value = value.get(name) or {}
        item_keys = value if isinstance(value, dict) else range(len(value))
        parts += [(*section, item_key) for item_key in item_keys]
    return parts


def _reduced(document: dict[str, Any], kept_parts: Collection[KeyPath]) -> dict[str, Any]:
    """Return a scenario whose sections contain only the kept parts, and whose story can run."""
    return _with_used_parts(_without_other_parts(document, kept_parts, ()))


def _without_other_parts(
    document: dict[str, Any], kept_parts: Collection[KeyPath], parent: KeyPath
) -> dict[str, Any]:
    """Return an object of a scenario, which is at the path `parent`, with only the kept parts.

    A section without kept parts is left out.
    """
    reduced: dict[str, Any] = {}
    for name, value in document.items():
        path = (*parent, name)
        if path == ("world",):
            reduced[name] = _without_other_parts(value, kept_parts, path)
        elif path not in _SECTIONS:
            reduced[name] = value
        else:
            kept_items = _kept_items(value, kept_parts, path)
            if kept_items:
                reduced[name] = kept_items
    return reduced


def _kept_items(value: Any, kept_parts: Collection[KeyPath], path: KeyPath) -> Any:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if (*path, key) in kept_parts}
    return [item for index, item in enumerate(value) if (*path, index) in kept_parts]


def _with_used_parts(document: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario without the shared parts that its story does not use any more.

    A part may use the parts before it.
    """
    used_names = {step.get("use") for step in document["story"]}
    used_parts: list[Any] = []
    for part in reversed(document.get("parts", [])):
        if part["name"] in used_names:
            used_names |= {step.get("use") for step in part["steps"]}
            used_parts.insert(0, part)
    without_parts = {name: value for name, value in document.items() if name != "parts"}
    if not used_parts:
        return without_parts
    return {**document, "parts": used_parts}


# --- Runs ------------------------------------------------------------------------------------------


def _failure_of_last_step(document: dict[str, Any], visit: PageHandler | None) -> str | None:
    """Run a scenario. Return why its last step fails, or None if the step succeeds."""
    last_step = ("story", len(document["story"]) - 1)
    try:
        report = run_document(document, visit, last_step)
    except ScenarioError as error:
        return error.message
    if report["passed"]:
        return None
    differences = report["steps"][-1]["differences"]
    texts = [
        f"{difference['at']} is {quoted_value(difference['found'])}" for difference in differences
    ]
    return "; ".join(texts) or None


def _with_true_expectations(document: dict[str, Any], visit: PageHandler | None) -> dict[str, Any]:
    """Return a scenario without expectations that now fail and without values that no step uses."""
    story = [dict(step) for step in document["story"]]
    document = {**document, "story": story}
    # A story stops at the first failure, so each run shows at most one failure.
    for _ in story:
        step_report = run_document(document, visit)["steps"][-1]
        index = step_report["line"] - 2
        if step_report["passed"] or index < 0:
            break
        story[index]["expect"] = _true_expectation(story[index], step_report["differences"])
    _remove_unused_values(story)
    return document


def _true_expectation(step: dict[str, Any], differences: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an expectation that holds: any response, or a response that is lost in the same way."""
    lost = step.get("expect", {}).get("lost")
    for difference in differences:
        if difference["at"] == "lost":
            lost = difference["found"]
    if lost is None:
        return any_response()
    return {"lost": lost}


def _remove_unused_values(story: list[dict[str, Any]]) -> None:
    """Remove the saved values whose names do not occur in any step."""
    text = json.dumps([{**step, "save": None} for step in story])
    for step in story:
        saved_values = step.pop("save", {})
        used_values = {
            name: path for name, path in saved_values.items() if _contains_name(text, name)
        }
        if used_values:
            step["save"] = used_values


def _contains_name(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
