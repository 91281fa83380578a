"""Mutants of a scenario: copies in which one thing is missing or weaker.

A story proves what its scenario says if it fails for every mutant. A step that sends no request and
changes nothing (`check`, `log`, a note alone) only looks at the others, so it is not removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from tests.support.fault_kinds import Noun, differs_without_option, kind_of_entry, rule_fields

Path = tuple[str | int, ...]
Document = dict[str, Any]
#: Steps that only look at the others.
_OBSERVING_ACTIONS = ("check", "log")
#: The simplest fault and the simplest outcome.
_PLAIN_FAILURES: dict[Noun, Document] = {
    "fault": {"abort": {"code": "service_unavailable"}},
    "outcome": {"fail": {}},
}
_SECTIONS: dict[str, Noun] = {"faults": "fault", "outcomes": "outcome"}


class Mutant(NamedTuple):
    """A changed scenario; `name` says what was changed."""

    name: str
    document: Document


def mutants_of(document: Document) -> Iterator[Mutant]:
    """Make all mutants of a scenario."""
    for section, noun in _SECTIONS.items():
        for index, entry in enumerate(document.get(section, ())):
            yield _without(document, (section, index))
            yield from _weaker_entries(document, (section, index), entry, noun)
    for index, planned in enumerate(document.get("timeline", ())):
        path: Path = ("timeline", index)
        yield _without(document, path)
        if "call" in planned:
            yield _without(document, (*path, "call"))
        if "after_calls" in planned:
            for count in (planned["after_calls"] - 1, planned["after_calls"] + 1):
                yield _replaced(document, (*path, "after_calls"), count)
        yield from _weaker_actions(document, path, planned)
    yield from _fewer_steps(document, ("story",))
    for index in range(len(document.get("parts", ()))):
        yield from _fewer_steps(document, ("parts", index, "steps"))


def _weaker_actions(document: Document, path: Path, holder: Mapping[str, Any]) -> Iterator[Mutant]:
    for noun in _SECTIONS.values():
        if noun in holder:
            yield from _weaker_entries(document, (*path, noun), holder[noun], noun)


def _weaker_entries(
    document: Document, path: Path, entry: Document, noun: Noun
) -> Iterator[Mutant]:
    """Leave out a matcher, a condition or an option of a fault or outcome, or make it a plain failure."""
    kind = kind_of_entry(noun, entry)
    for name in entry:
        if name in rule_fields():
            yield _without(document, (*path, name))
            yield from _without_parts(document, (*path, name))
    if "times" in entry:
        yield _replaced(document, (*path, "times"), entry["times"] + 1)
    options = entry[kind] or {}
    for option in options:
        if differs_without_option(noun, kind, options, option):
            yield _without(document, (*path, kind, option))
    plain_failure = _PLAIN_FAILURES[noun]
    if kind not in plain_failure:
        mutant = deepcopy(document)
        changed_entry = _at(mutant, path)
        del changed_entry[kind]
        changed_entry |= plain_failure
        yield Mutant(f"{_text(path)} is a plain failure", mutant)


def _without_parts(document: Document, path: Path) -> Iterator[Mutant]:
    """Leave out one field of a matcher or condition, or one of the alternatives that it lists."""
    value = _at(document, path)
    if not isinstance(value, dict | list):
        return
    names = list(value) if isinstance(value, dict) else range(len(value))
    for name in names:
        if len(value) > 1:
            yield _without(document, (*path, name))
        yield from _without_parts(document, (*path, name))


def _fewer_steps(document: Document, path: Path) -> Iterator[Mutant]:
    for index, step in enumerate(_at(document, path)):
        step_path = (*path, index)
        is_observing = any(action in step for action in _OBSERVING_ACTIONS)
        if not is_observing and list(step) != ["note"]:
            yield _without(document, step_path)
        yield from _weaker_actions(document, step_path, step)
        requests = step.get("together", ())
        for number in range(len(requests)):
            mutant = _without(document, (*step_path, "together", number))
            other_requests = _at(mutant.document, (*step_path, "together"))
            if len(other_requests) == 1:
                _at(mutant.document, path)[index] = other_requests[0]
            yield mutant


def _without(document: Document, path: Path) -> Mutant:
    mutant = deepcopy(document)
    del _at(mutant, path[:-1])[path[-1]]
    return Mutant(f"without {_text(path)}", mutant)


def _replaced(document: Document, path: Path, value: Any) -> Mutant:
    mutant = deepcopy(document)
    _at(mutant, path[:-1])[path[-1]] = value
    return Mutant(f"{_text(path)} is {value}", mutant)


def _at(document: Any, path: Path) -> Any:
    part = document
    for name in path:
        part = part[name]
    return part


def _text(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
