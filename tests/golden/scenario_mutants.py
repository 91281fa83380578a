"""Mutants of a scenario: copies in which one thing is missing or weaker.

A story proves what its scenario says if it fails for every mutant. A step that sends no request and
changes nothing (`check`, `log`, a note alone) only looks at the others, so it is not removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import msgspec

from hosting_emulator.faults.documents import FAULT, OUTCOME, RULE_FIELDS, Family

Path = tuple[str | int, ...]
Document = dict[str, Any]
_LOOKS = ("check", "log")
_PLAIN_FAULT = {"abort": {"code": "service_unavailable"}}
_PLAIN_OUTCOME: dict[str, Document] = {"fail": {}}


class Mutant(NamedTuple):
    """A changed scenario; `name` says what was changed."""

    name: str
    document: Document


def mutants_of(document: Document) -> Iterator[Mutant]:
    """Make all mutants of a scenario."""
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        for index, entry in enumerate(document.get(section, ())):
            yield _without(document, (section, index))
            yield from _weaker_entries(document, (section, index), entry, family)
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
    for name, family in (("fault", FAULT), ("outcome", OUTCOME)):
        if name in holder:
            yield from _weaker_entries(document, (*path, name), holder[name], family)


def _weaker_entries(
    document: Document, path: Path, entry: Mapping[str, Any], family: Family
) -> Iterator[Mutant]:
    """Leave out a matcher, a condition or an option of a fault or outcome, or make it a plain failure."""
    kind = next(name for name in entry if name in family.kinds)
    for name in entry:
        if name in RULE_FIELDS:
            yield _without(document, (*path, name))
            yield from _without_parts(document, (*path, name))
    if "times" in entry:
        yield _replaced(document, (*path, "times"), entry["times"] + 1)
    options = entry[kind] or {}
    read = msgspec.convert(options, family.kinds[kind])
    for option in options:
        rest = {name: value for name, value in options.items() if name != option}
        try:
            means_the_same = msgspec.convert(rest, family.kinds[kind]) == read
        except msgspec.ValidationError:
            continue
        if not means_the_same:
            yield _without(document, (*path, kind, option))
    plain = _PLAIN_FAULT if family is FAULT else _PLAIN_OUTCOME
    if kind not in plain:
        mutant = deepcopy(document)
        changed = _at(mutant, path)
        del changed[kind]
        changed |= plain
        yield Mutant(f"{_text(path)} is a plain failure", mutant)


def _without_parts(document: Document, path: Path) -> Iterator[Mutant]:
    """Leave out one field of a matcher or condition, or one of the alternatives that it lists."""
    value = _at(document, path)
    if not isinstance(value, dict | list):
        return
    for name in value if isinstance(value, dict) else range(len(value)):
        if len(value) > 1:
            yield _without(document, (*path, name))
        yield from _without_parts(document, (*path, name))


def _fewer_steps(document: Document, path: Path) -> Iterator[Mutant]:
    for index, step in enumerate(_at(document, path)):
        place = (*path, index)
        if not any(look in step for look in _LOOKS) and list(step) != ["note"]:
            yield _without(document, place)
        yield from _weaker_actions(document, place, step)
        items = step.get("together", ())
        for number in range(len(items)):
            mutant = _without(document, (*place, "together", number))
            rest = _at(mutant.document, (*place, "together"))
            if len(rest) == 1:
                _at(mutant.document, path)[index] = rest[0]
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
