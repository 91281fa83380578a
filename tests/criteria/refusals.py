"""Golden file with expectations: which ones each type of value accepts, and what users read otherwise.

Each section of `refusals.txt` is one type. Its lines are expectations, with the reason if no value of
the type can ever match one. `make record` renews the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.compound_types import Array, Fields, either
from hosting_emulator.criteria.patterns import PatternError
from hosting_emulator.criteria.request_filters import COUNT, request_filters
from hosting_emulator.criteria.response_types import HEADER
from hosting_emulator.criteria.simple_types import Number, Text, Timestamp, Ulid, Word
from hosting_emulator.criteria.value_types import ANY, Impossible, ValueType
from tests.support import recorded_texts

GOLDEN_FILE = Path(__file__).with_name("refusals.txt")

_STATE = Word("a state", words=("queued", "failed"))
_ITEM = Fields("an item", fields={"id": Ulid(), "state": _STATE, "created_at": Timestamp()})
TYPES: dict[str, ValueType] = {
    **{
        f"filter {name}": kind
        for name, kind in request_filters(["ada"], ["shop"], ["abort"]).items()
    },
    "count of requests": COUNT,
    "header": HEADER,
    "percentage": Number("a percentage", least=0, greatest=100),
    "whole percentage": Number("a whole percentage", whole=True, least=0, greatest=100),
    "text": Text("a name"),
    "timestamp": Timestamp(),
    "state": _STATE,
    "item": _ITEM,
    "item without fields": Fields("an empty object"),
    "list of items": Array(item=_ITEM, most=2),
    "list of states": Array(item=_STATE),
    "list of numbers": Array(item=Number("a number")),
    "state or number": either([_STATE, Number("a number")]) or ANY,
}
#: Expectations for each type.
EXPECTATIONS: list[Any] = [
    None,
    True,
    0,
    7.5,
    -1,
    "x",
    "/x/",
    [],
    {},
    {"at_least": 1},
    {"not": "*"},
    {"same_as": [1]},
]
#: Expectations for each type whose values have an order.
LIMITS: list[Any] = [
    600,
    "2026-01-31T09:30:00Z",
    "2026-01-31",
    {"at_least": "x"},
    {"at_least": "2026-01-31T09:30:00Z", "at_most": "2026-01-31T09:29:59Z"},
    {"above": 100},
    {"at_least": 100},
    {"below": 0},
    {"at_most": 0},
    {"at_least": 5, "below": 5},
    {"above": 5, "at_most": 5},
    {"above": 4, "below": 5},
    {"above": 4, "below": 6},
    {"at_least": 5, "at_most": 5},
    {"at_least": 6, "at_most": 5},
    {"at_least": 5, "at_most": "2026-01-31T09:30:00Z"},
]
#: Expectations for each type with fields or items.
PARTS: list[Any] = [
    ["x"],
    ["*", "*", "*"],
    {"stat": 1},
    {"5": "*"},
    {"same_as": {"stat": 1}},
    {"same_as": ["x"]},
    {"has": "x"},
    {"each": 1},
    {"item_count": 3},
    {"item_count": {"of": 1}},
    {"item_count": {"of": "x", "is": 0}},
    {"sorted_by": "ascending"},
    {"sorted_by": "stat"},
    {"sorted_by": "state"},
    {"sorted_by": {"created_at": "down"}},
    {"sorted_by": "-created_at"},
    {"sorted_by": []},
    {"distinct": "stat"},
    {"distinct": True},
    {"distinct": 7},
    {"not": {}},
]
#: More expectations for single types.
MORE_EXPECTATIONS: dict[str, list[Any]] = {
    "filter status": ["404", "4xx", "6xx", 199, 599],
    "filter call": ["list_deployment", "listDeployments"],
    "filter method": ["get", "got"],
    "filter code": ["forbiden"],
    "filter user": ["adda", "nobody"],
    "filter fault": ["fault-1", "fault-0", "abrot"],
    "filter lost": [False, "timeut"],
    "filter path": ["/v1/a b", "v1", "/worlds/x/v1", "/v1/x?y", "http://x", "/v1/{", "/v1/*/"],
    "state": [
        {"zz": 1},
        {"zz": 1, "at_least": 1},
        {"one_of": []},
        {"one_of": ["x"]},
        {"not_in": "x"},
        {"not_in": ["x"]},
        {"same_as": "*"},
        {"has": "x"},
        {"optional": "x"},
        {"one_of": ["queued", "failed"], "not": "queued", "not_in": ["failed"]},
        "/(/",
    ],
    "text": [f"/{'x' * 1001}/", f"/{'(' * 101}{')' * 101}/", "/x{100}{200}/", "/a/b/"],
}


def _verdict(kind: ValueType, expected: Any) -> str:
    """Return what a check says about an expectation."""
    try:
        check(kind, expected)
    except PatternError as refused:
        return f"refused, {refused}"
    except Impossible as refused:
        path = ".".join(map(str, refused.path)) or "as a whole"
        return f"refused, {path}{' (the name)' if refused.key else ''}: {refused}"
    return "accepted"


def _lines() -> Iterator[str]:
    yield recorded_texts.HEADER
    for name, kind in TYPES.items():
        yield f"\n# {name}\n"
        expectations = [
            *EXPECTATIONS,
            *(LIMITS if kind.orders() else ()),
            *(PARTS if kind.is_mapping() else ()),
            *MORE_EXPECTATIONS.get(name, ()),
        ]
        for expected in expectations:
            shown = json.dumps(expected, ensure_ascii=False)
            yield f"{shown if len(shown) < 90 else shown[:80] + '…'} — {_verdict(kind, expected)}\n"


def golden_text() -> str:
    """Return the text that the golden file must have."""
    return "".join(_lines())


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text(), encoding="utf-8")
