"""Runs `log` steps, which count the matching requests in the request log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import match
from hosting_emulator.criteria.mismatches import Mismatch
from hosting_emulator.criteria.request_filters import has_failed
from hosting_emulator.criteria.value_types import Impossible, ValueType
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.request_log import CAPACITY
from hosting_emulator.engine.request_views import sent_header, summary_members
from hosting_emulator.scenario.comparison import compare_value
from hosting_emulator.scenario.log_filters import log_filters
from hosting_emulator.scenario.slices import Slices
from hosting_emulator.scenario.source import texts_in
from hosting_emulator.world.tables import OPERATIONS, PROJECTS, STREAMS
from hosting_emulator.world.value import World

#: The maximum number of requests that are described in the report of a failed `log` step.
_MOST_NEAREST = 5


@dataclass(frozen=True, slots=True)
class LogResult:
    """The result of a `log` step.

    If the step fails, `nearest` describes the matching requests or, if there are none, those that
    come closest.
    """

    message: str
    mismatches: list[Mismatch]
    nearest: list[str]


def count_requests(engine: Engine, expected: dict[str, Any]) -> Slices[LogResult]:
    """Count the requests in the log that match `expected`, which must not contain variables.

    Raises ValueError if the log may have dropped requests or if no request can ever match.
    """
    world = engine.world
    filters = log_filters(_ids_by_alias(world, "user"), _ids_by_alias(world, "project"))
    count_type = filters.pop("count")
    expected_count = expected.pop("count", {"at_least": 1})
    for name, value in expected.items():
        _check_filter(world, name, filters[name], value)
    entries = engine.log.after(0)
    if len(entries) == CAPACITY:
        raise ValueError(
            f"requests may be missing, because the log stores only the last {CAPACITY}"
        )
    views = []
    count = 0
    for entry in entries:
        yield
        view = _log_view(world, entry)
        views.append(view)
        count += all(
            match(filters[name], value, view[name]) is True for name, value in expected.items()
        )
    mismatches = compare_value(count_type, expected_count, count, "log.count")
    nearest = _nearest_requests(filters, expected, views) if mismatches else []
    return LogResult(f"{count} of {len(entries)} requests match", mismatches, nearest)


def _ids_by_alias(world: World, index: str) -> dict[str, str]:
    """Return the ids of the users or the projects, by alias. `index` is `user` or `project`."""
    prefix = f"{index}:"
    return {
        key.removeprefix(prefix): str(id_)
        for key, id_ in world.indexes.items()
        if key.startswith(prefix)
    }


def _check_filter(world: World, name: str, kind: ValueType, value: Any) -> None:
    """Raise ValueError if no request in this world can ever match this value of a filter."""
    try:
        check(kind, value)
    except Impossible as error:
        raise ValueError(f"{name} can never match: {error}") from None
    for _, text in texts_in(value):
        if name == "operation" and is_ulid(text) and world.get(OPERATIONS, text) is None:
            raise ValueError(f"there is no operation {text}")
        number = text.removeprefix("fault-")
        if name == "fault" and number != text and number.isdecimal():
            armed_count = world.get(STREAMS, "fault order") or 0
            if int(number) > armed_count:
                raise ValueError(f"there is no fault {text}; faults armed so far: {armed_count}")


def _log_view(world: World, entry: Entry) -> dict[str, Any]:
    """Return the values of a logged request that the filters are compared with, by filter name."""
    view = summary_members(world, entry)
    project = world.get(PROJECTS, view["project"] or "")
    names = (view["project"], project.alias if project else None)
    view["project"] = tuple(filter(None, names)) or None
    view["user"] = tuple(filter(None, (view["user_id"], view["user"]))) or None
    view["key"] = sent_header(entry, b"idempotency-key")
    acted = [name for fault in entry.acted for name in (fault.id, fault.kind)]
    view["fault"] = tuple(acted) or None
    view["why"] = tuple(view["why"]) or None
    view["failed"] = has_failed(view)
    return view


def _value_text(value: Any) -> str:
    """Format a value from `_log_view` for a message."""
    if isinstance(value, tuple):
        return " or ".join(map(value_text, value))
    return "none" if value is None else value_text(value)


def _nearest_requests(
    filters: Mapping[str, ValueType], expected: Mapping[str, Any], views: Iterable[dict[str, Any]]
) -> list[str]:
    """Describe the matching requests or, if there are none, how the closest ones differ."""
    differences = {
        view["n"]: [
            f"{name} is {_value_text(view[name])}"
            for name, value in expected.items()
            if match(filters[name], value, view[name]) is not True
        ]
        for view in views
    }
    matching = [f"request {n} matches" for n, texts in differences.items() if not texts]
    if matching:
        return matching[-_MOST_NEAREST:]
    least = min((len(texts) for texts in differences.values()), default=0)
    nearest = [
        f"request {n} differs: {', '.join(texts)}"
        for n, texts in differences.items()
        if len(texts) == least and least < len(expected)
    ]
    return nearest[-_MOST_NEAREST:]
