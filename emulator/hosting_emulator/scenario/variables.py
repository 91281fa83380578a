"""The values of variables while a story runs.

A variable can be a saved or collected value, the world's time, or the id for an alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.json_values import each_text
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.criteria.compound_types import Array, either
from hosting_emulator.criteria.mismatches import Mismatch
from hosting_emulator.criteria.value_types import ANY, ValueType
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.faults.matching import value_at
from hosting_emulator.scenario.arrival import Arrival
from hosting_emulator.scenario.default_names import default_alias
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.variable_syntax import (
    DEFAULT_ALIASES,
    EACH_ITEM,
    MOMENT,
    NOW,
    VARIABLE,
    WHOLE_RESPONSE,
    SavedValue,
    read_collected_value,
    read_saved_value,
)

#: The expected value that is reported for a step that cannot be carried out.
POSSIBLE = "to be possible"


@dataclass(frozen=True, slots=True)
class Collection:
    """The values that steps have collected under a name.

    `item_kind` is the type of the values, and `paths` are their paths in the responses.
    """

    item_kind: ValueType
    values: tuple[Any, ...]
    paths: tuple[str, ...]

    def checked_values(self, name: str) -> list[Any]:
        """Return the collected values. `name`, the list's name, is used in the error message.

        Raises ValueError if there are no values, because a check of an empty list proves nothing.
        """
        if not self.values:
            paths = " or ".join(dict.fromkeys(self.paths))
            raise ValueError(f"no values were collected as {name}: no response had {paths}")
        return list(self.values)


class Variables:
    """The values of the variables in one run of a story."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._saved: dict[str, Any] = {}
        self._bodies: dict[str, bytes] = {}
        self._collections: dict[str, Collection] = {}

    def saved_body(self, name: str) -> bytes | None:
        """Return the body of a saved response, or None if no response was saved under this name."""
        return self._bodies.get(name)

    def type_of(self, name: str) -> ValueType:
        """Return the type of a saved value, or of a list of collected values."""
        collection = self._collections.get(name)
        if collection is None:
            return ANY
        return Array(item=collection.item_kind)

    def id_of(self, kind: str, name: str) -> str:
        """Return the id for an alias. A string that is not an alias is returned unchanged."""
        return str(self._engine.world.indexes.get(f"{kind}:{name}") or name)

    def default_id(self, kind: str) -> str:
        """Return the id of the record that a step uses by default (see `default_alias`)."""
        return self.id_of(kind, default_alias(self._engine.world, kind) or DEFAULT_ALIASES[kind])

    def fill(self, value: Any) -> Any:
        """Return a value with all variables replaced by their values.

        A string that consists of a single variable becomes that variable's value, which can be of
        any type.
        """
        return each_text(value, self._fill_text)

    def _fill_text(self, text: str) -> Any:
        whole = VARIABLE.fullmatch(text)
        if whole is not None:
            return self.value_of(whole[1])
        return VARIABLE.sub(lambda variable: value_text(self.value_of(variable[1])), text)

    def value_of(self, name: str) -> Any:
        """Return the value of a variable. Raises ValueError if the variable does not exist."""
        if name in self._saved:
            return self._saved[name]
        if name in self._collections:
            return self._collections[name].checked_values(name)
        if name == NOW:
            return format_timestamp(self._engine.now_ms())
        kind, _, alias = name.partition(".")
        id_ = self._engine.world.indexes.get(f"{kind}:{alias}")
        if id_ is not None and kind in DEFAULT_ALIASES:
            return id_
        moment = MOMENT.fullmatch(name)
        if moment is not None:
            base_ms = parse_timestamp(str(self.value_of(moment[1])))
            distance_ms = parse_duration_ms(moment[3])
            if moment[2] == "-":
                distance_ms = -distance_ms
            return format_timestamp(base_ms + distance_ms)
        names = ", ".join(sorted(self._saved)) or "nothing"
        raise ValueError(f"there is no variable ${{{name}}}; saved so far: {names}")

    @contextmanager
    def scope(self, values: Mapping[str, Any]) -> Iterator[None]:
        """Set variables for the steps of a part, and restore the previous values afterwards."""
        former = self._saved
        self._saved = {**former, **values}
        yield
        saved = {name: value for name, value in self._saved.items() if name not in values}
        for name in values:
            if name in former:
                saved[name] = former[name]
        self._saved = saved

    def save(self, save: Mapping[str, str], arrival: Arrival) -> list[Mismatch]:
        """Save values from a response, and return a mismatch for each value that is missing."""
        missing = []
        for name, text in save.items():
            saved = read_saved_value(text)
            if saved.path == WHOLE_RESPONSE and arrival.lost is None:
                self._bodies[name] = arrival.reply.body
                continue
            value = _value_of(arrival, saved)
            if value is UNSET:
                reason = _why_not_saved(arrival, name, text)
                missing.append(Mismatch(f"save.{name}", POSSIBLE, reason, ("save", name)))
            else:
                self._saved[name] = value
        return missing

    def collect(self, step: StepPart, arrival: Arrival, types: ResponseTypes) -> None:
        """Append the values that a step collects to the lists.

        If the response lacks a value, nothing is added.
        """
        for name, text in step.collect.items():
            collected = read_collected_value(text)
            item_kind = types.collected(step, collected)
            collection = self._collections.get(name, Collection(item_kind, (), ()))
            self._collections[name] = Collection(
                either([collection.item_kind, item_kind]) or ANY,
                (*collection.values, *_values_of(arrival, collected)),
                (*collection.paths, collected.path),
            )


def _values_of(arrival: Arrival, collected: SavedValue) -> Iterator[Any]:
    """Yield the values that a step collects from a response."""
    first, _, rest = collected.path.partition(".")
    if first == WHOLE_RESPONSE:
        values = values_at(arrival.document(), rest)
    elif arrival.lost:
        return
    elif first == "headers":
        values = iter([arrival.at(collected.path)])
    else:
        values = values_at(document_of(arrival.reply.body), collected.path)
    for value in values:
        value = _matching_part(value, collected)
        if value is not UNSET:
            yield value


def values_at(document: Any, path: str) -> Iterator[Any]:
    """Yield the values at a dotted path. In the path, `*` means every item of a list.

    UNSET is yielded for a missing value.
    """
    first, star, rest = f".{path}".partition(f".{EACH_ITEM}")
    path_to_list = first.removeprefix(".")
    value = value_at(document, path_to_list) if path_to_list else document
    if not star:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from values_at(item, rest.removeprefix("."))


def _value_of(arrival: Arrival, saved: SavedValue) -> Any:
    """Return the value to save from a response, or UNSET if the response does not have it.

    A lost response has no values.
    """
    if arrival.lost:
        return UNSET
    return _matching_part(arrival.at(saved.path), saved)


def _matching_part(value: Any, saved: SavedValue) -> Any:
    """Return the part of a value that a step saves.

    If `saved` has a pattern, this is the first group of the match, or the whole match if the
    pattern has no groups. Returns UNSET if the pattern does not match.
    """
    if saved.pattern is None or value is UNSET:
        return value
    if value is None:
        return UNSET
    match = saved.pattern.search(value_text(value))
    if match is None:
        return UNSET
    return match[1] if match.re.groups else match[0]


def _why_not_saved(arrival: Arrival, name: str, text: str) -> str:
    """Explain why a response does not contain the value to save."""
    if arrival.lost:
        return f"the response was lost ({arrival.lost}), so there is no {text} to save as {name}"
    if arrival.reply.status >= 400:
        return f"the response was {arrival.summary()}, so there is no {text} to save as {name}"
    return f"the response has no {text} to save as {name}"
