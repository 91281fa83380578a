"""Validation: what can be told to be wrong with faults, interventions and a story before they run.

It does nothing in the world it is given; whether a step succeeds is found out by running it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.contract.words import nearest
from hosting_emulator.faults.documents import read_fault
from hosting_emulator.interventions import read_intervention
from hosting_emulator.scenario.document import ExpectPart, Scenario, StepPart
from hosting_emulator.scenario.source import Path
from hosting_emulator.world.value import Change

#: What an id can be asked for by alias, in a variable of a story: `${project.shop}`.
INDEXES = ("project", "organization", "person")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_DEFAULTS = {"person": "owner", "project": "shop", "organization": "acme"}


def known_word(scenario: Scenario, path: Path, what: str, word: str, known: Iterable[str]) -> None:
    """Check a word. Raises ScenarioError, naming the nearest known one, or all of them."""
    known = list(known)
    if word not in known:
        hint = nearest(word, known) or f"; there are {', '.join(known) or 'none'}"
        raise scenario.source.error(path, f"there is no {what} {word!r}{hint}")


def check_no_variables(scenario: Scenario, path: Path, found: Any) -> None:
    """Refuse variables where nothing has been saved yet."""
    for inner, name in names_in(found):
        message = f"${{{name}}} is not known here: only the steps of a story have variables"
        raise scenario.source.error((*path, *inner), message)


def check_turn(
    scenario: Scenario, path: Path, action: str, found: dict[str, Any], change: Change
) -> None:
    """Check a fault or an intervention without doing it, as far as that can be told beforehand."""
    if action == "fault":
        with scenario.source.refusals_at(path):
            if not any(names_in(found)):
                read_fault(change.fork(), found)
        return
    with scenario.source.refusals_at((*path, *list(found)[:1])):
        read_intervention(found).check_names(change)


def check_story(scenario: Scenario, change: Change) -> None:
    """Check what can be told of a story before it runs. Raises ScenarioError."""
    saved: dict[str, None] = {}
    answers: dict[str, None] = {}
    for number, step in enumerate(scenario.part.story):
        path: Path = ("story", number)
        _check_variables(scenario, path, change, saved)
        _check_action(scenario, path, step, change)
        _check_who_and_what(scenario, path, step, change)
        if step.expect is not None:
            _check_expect(scenario, (*path, "expect"), step.expect, answers)
        for name, place in step.save.items():
            (answers if place == "answer" else saved)[name] = None


def _check_variables(scenario: Scenario, path: Path, change: Change, saved: Iterable[str]) -> None:
    for inner, name in names_in(scenario.source.data["story"][path[1]]):
        index, _, alias = name.partition(".")
        if name in saved:
            continue
        if index in INDEXES and alias:
            known_word(scenario, (*path, *inner), index, alias, _aliases(change, index))
            continue
        hint = nearest(name, saved) or f"; saved so far is {', '.join(saved) or 'nothing'}"
        raise scenario.source.error((*path, *inner), f"there is no ${{{name}}}{hint}")


def _aliases(change: Change, index: str) -> list[str]:
    found = [key.split(":")[1] for key in change.world.indexes if key.startswith(f"{index}:")]
    return sorted(found)


def _check_action(scenario: Scenario, path: Path, step: StepPart, change: Change) -> None:
    if step.call is not None:
        known_word(scenario, (*path, "call"), "call", step.call, CALLS)
    if step.fault is not None:
        check_turn(scenario, (*path, "fault"), "fault", step.fault, change)
    if step.intervene is not None:
        check_turn(scenario, (*path, "intervene"), "intervene", step.intervene, change)
    with scenario.source.refusals_at((*path, "to" if step.advance is None else "advance")):
        if step.advance is not None:
            parse_duration_ms(step.advance)
        if step.to is not None and "${" not in step.to:
            parse_timestamp(step.to)
    for name, value in (step.assume or {}).items():
        with scenario.source.refusals_at((*path, "assume", name)):
            if not any(names_in(value)):
                Assumptions().changed({name: value})


def _check_who_and_what(scenario: Scenario, path: Path, step: StepPart, change: Change) -> None:
    """Check the aliases of a step, and that what it leaves to the defaults is there."""
    needed: set[str] = {CALLS[step.call].subject} if step.call is not None else set()
    if step.token is None and (step.call or step.poll):
        needed.add("person")
    said = {
        "person": ("as", step.who),
        "project": ("project", step.project),
        "organization": ("organization", step.organization),
    }
    if step.sign_in is not None:
        said["person"] = ("sign_in", step.sign_in)
    for index, (field, alias) in said.items():
        known = _aliases(change, index)
        if alias is not None:
            if "${" not in alias and change.world.indexes.get(f"{index}:{alias}") is None:
                known_word(scenario, (*path, field), index, alias, known)
        elif index in needed and _DEFAULTS[index] not in known:
            message = f"say which {index} with `{field}`: there are {', '.join(known) or 'none'}"
            raise scenario.source.error(path, message)


def _check_expect(
    scenario: Scenario, path: Path, expect: ExpectPart, answers: Iterable[str]
) -> None:
    if expect.code is not None:
        known_word(scenario, (*path, "code"), "problem code", expect.code, PROBLEMS)
    if expect.same_as is not None:
        known_word(scenario, (*path, "same_as"), "saved answer", expect.same_as, answers)
    for inner, text in _texts(scenario.source.data["story"][path[1]]["expect"]):
        pattern = pattern_of(text)
        if pattern is None:
            continue
        try:
            re.compile(pattern)
        except re.error as error:
            message = f"{text!r} is not a regular expression: {error}"
            raise scenario.source.error((*path, *inner), message) from None


def _texts(found: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(found, str):
        yield (), found
    pairs: Iterable[tuple[Any, Any]] = found.items() if isinstance(found, dict) else ()
    if isinstance(found, list):
        pairs = enumerate(found)
    for name, value in pairs:
        yield from (((name, *path), text) for path, text in _texts(value))


def pattern_of(expected: Any) -> str | None:
    """Return the regular expression in `/…/`; None: it is none."""
    if isinstance(expected, str) and len(expected) > 2 and expected[0] == expected[-1] == "/":
        return expected[1:-1]
    return None


# --- variables -----------------------------------------------------------------------------------


def names_in(found: Any) -> Iterator[tuple[Path, str]]:
    """Walk all variables in a value: the path to the text each stands in, and its name."""
    yield from ((path, name) for path, text in _texts(found) for name in _VARIABLE.findall(text))


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
