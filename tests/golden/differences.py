"""Describes the differences between the recorded golden files and those of the current walk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from typing import Any

from tests.golden.reading import RecordedExchange, read_exchanges
from tests.golden.record import escaped

RENEW = "If the change is intended, run `make record` and read the diff of the golden files."
_SHOWN_CHANGES = 10
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True)
class Difference:
    """A difference of one value of a response."""

    #: The golden file, the number of the exchange and its request.
    exchange: str
    path: str
    description: str


def describe_differences(recorded: Mapping[str, str], current: Mapping[str, str]) -> str:
    """Return what differs between two folders of golden files, or an empty text."""
    differing = sorted(
        name for name in recorded.keys() | current.keys() if recorded.get(name) != current.get(name)
    )
    if not differing:
        return ""
    try:
        differences = _differences(recorded, current)
    except (LookupError, ValueError):  # a golden file was edited, or has a conflict of a merge
        differences = []
    if not differences:
        differences = [_difference_of_text(name, recorded, current) for name in differing]
    groups: dict[tuple[str, str], list[Difference]] = {}
    for difference in differences:
        key = (re.sub(r"/\d+(?=/|$)", "/*", difference.path), difference.description)
        groups.setdefault(key, []).append(difference)
    lines = [
        f"The walk differs from the record in {len(differences)} places, "
        f"which show {len(groups)} different changes.",
        f"Golden files that differ: {', '.join(differing)}.",
    ]
    for group in list(groups.values())[:_SHOWN_CHANGES]:
        first = group[0]
        lines.append("")
        lines.append(f"tests/golden/record/{first.exchange}")
        lines.append(f"  {first.path}: {first.description}")
        if len(group) > 1:
            lines.append(f"  (the same in {len(group) - 1} more places)")
    if len(groups) > _SHOWN_CHANGES:
        lines += ["", f"... and {len(groups) - _SHOWN_CHANGES} more changes"]
    return "\n".join([*lines, "", RENEW])


def _differences(recorded: Mapping[str, str], current: Mapping[str, str]) -> list[Difference]:
    before = read_exchanges(recorded)
    after = read_exchanges(current)
    differences: list[Difference] = []
    for title in dict.fromkeys([*after, *before]):
        differences += _differences_of_part(before.get(title, []), after.get(title, []))
    return differences


def _differences_of_part(
    before: list[RecordedExchange], after: list[RecordedExchange]
) -> Iterator[Difference]:
    requests = [exchange.request for exchange in before]
    sent = [exchange.request for exchange in after]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, requests, sent, False).get_opcodes():
        if tag == "equal" or i_end - i == j_end - j:
            for recorded, current in zip(before[i:i_end], after[j:j_end], strict=True):
                yield from _differences_of_exchange(recorded, current)
            continue
        for exchange in before[i:i_end]:
            yield Difference(exchange.title, "request", "recorded, but the walk does not send it")
        for exchange in after[j:j_end]:
            yield Difference(exchange.title, "request", "not recorded, but the walk sends it")


def _differences_of_exchange(
    before: RecordedExchange, after: RecordedExchange
) -> Iterator[Difference]:
    parts = (
        ("request", before.request, after.request),
        ("status", before.status, after.status),
        ("headers", before.headers, after.headers),
        ("body", before.body, after.body),
    )
    for name, value_before, value_after in parts:
        for path, description in differences_of_values(value_before, value_after):
            yield Difference(after.title, f"{name} {path}".rstrip(), description)
    if before.body == after.body and before.layout != after.layout:
        layouts = f"recorded {_shortened_json(before.layout)}, now {_shortened_json(after.layout)}"
        yield Difference(after.title, "layout of the body", layouts)


def differences_of_values(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the JSON path of each difference, and a description with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _differences_of_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield path or "/", f"recorded {len(before)} items, now {len(after)}"
        for number, (item_before, item_after) in enumerate(zip(before, after, strict=False)):
            yield from differences_of_values(item_before, item_after, f"{path}/{number}")
    elif type(before) is not type(after) or before != after:
        yield path, f"recorded {_shortened_json(before)}, now {_shortened_json(after)}"


def _differences_of_objects(
    before: dict[str, Any], after: dict[str, Any], path: str
) -> Iterator[tuple[str, str]]:
    missing = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    for name in missing:
        new_name = next((other for other in added if after[other] == before[name]), None)
        field_path = f"{path}/{escaped(name)}"
        recorded = _shortened_json(before[name])
        if new_name is not None:
            added.remove(new_name)
            yield field_path, f"recorded {recorded}, now under the name {new_name!r}"
        else:
            yield field_path, f"recorded {recorded}, now missing"
    for name in added:
        yield f"{path}/{escaped(name)}", f"not recorded, now {_shortened_json(after[name])}"
    for name in before:
        if name in after:
            field_path = f"{path}/{escaped(name)}"
            yield from differences_of_values(before[name], after[name], field_path)
    if not missing and not added and list(before) != list(after):
        yield path or "/", f"recorded the order {', '.join(before)}; now {', '.join(after)}"


def _shortened_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _difference_of_text(
    name: str, recorded: Mapping[str, str], current: Mapping[str, str]
) -> Difference:
    lines = unified_diff(
        recorded.get(name, "").splitlines(),
        current.get(name, "").splitlines(),
        "recorded",
        "now",
        n=0,
        lineterm="",
    )
    return Difference(name, "text", "\n    ".join(list(lines)[:_SHOWN_CHANGES]))
