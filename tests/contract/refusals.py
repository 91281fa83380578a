"""Golden file with refusals by the contract's readers: what users read about values that are not valid.

Each section of `refusals.txt` is one reader. Below each value stands the message, or `accepted`.
`make record` renews the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.json_text import JsonText, read_pointer
from hosting_emulator.contract.timestamps import parse_timestamp
from tests.support.recorded_texts import HEADER

GOLDEN_FILE = Path(__file__).with_name("refusals.txt")

ASSUMPTIONS: list[tuple[str, Any]] = [
    ("nothing", 1),
    ("rate_limits", "off"),
    ("read_status", 201),
    ("rate_limit", "rarely"),
    ("rate_limit", "0/60s"),
    ("rate_limit", "1/999ms"),
    ("rate_limit", "1/1s"),
    ("rate_limit", "1/24h"),
    ("rate_limit", "1/86401s"),
    ("source_profile", "timed 2s"),
    ("source_profile", "per_poll 0"),
    ("source_profile", "per_poll 9999"),
    ("domains_profile", "timed 2s soon"),
    ("idempotency_retention", "soon"),
    ("idempotency_retention", "forever"),
    ("token_lifetime", "forever"),
    ("accepted_status", "x"),
    ("default_page_size", 0),
    ("default_page_size", True),
    ("progress_phases", ["a", 1]),
    ("progress_phases", "queued,queued,c,d,e"),
    ("progress_phases", "a,b,c,d,e"),
    ("progress_phases", "a,queued,c,d,e"),
    ("progress_phases", '["queued", "b", "c", "d", "e"]'),
    ("flag_reenabled", "no"),
    ("cursor_parameter", "limit"),
    ("operation_path", "operations"),
    ("operation_path", "/v1/../{operation_id}"),
    ("operation_path", "/v1/./{operation_id}"),
    ("operation_path", "/v1/projects/{operation_id}/deployments"),
    ("problem_statuses", '{"forbidden": 404}'),
    ("problem_statuses", "nothing=400"),
    ("problem_statuses", "forbidden=200"),
    ("problem_statuses", "forbidden=x"),
    ("problem_statuses", "forbidden=600"),
    ("problem_statuses", "forbidden=400,rate_limited=599"),
    ("problem_statuses", "resource_not_found=410"),
    ("condition_codes", "generation_stal=etag_mismatch"),
    ("condition_codes", "zzz=etag_mismatch"),
    ("condition_codes", "generation_stale=zzz"),
]
BODIES: list[bytes] = [
    b"",
    b"{",
    b"{'a': 1}",
    b"{} {}",
    b"NaN",
    b"[-Infinity]",
    b"\xff\xfe{}",
    b'{"a": "\xc3"}',
    b"\xef\xbb\xbf{}",
    b'{"a": 1, "a": 2}',
    b'{"o": {"x": 1, "\\u0078": 2}}',
    b'{"' + b"a" * 61 + b'": 1, "' + b"a" * 61 + b'": 2}',
    b'"\\ud800"',
    b'{"\\udfff": 1}',
    b'"\\ud83d\\ude00"',
    b"[" * 64 + b"]" * 64,
    b"[" * 65 + b"]" * 65,
    b"9" * 5_000,
    b"1e999",
    b"1e308",
]
TEXTS = ['{"a": 1, "b": [2]}', '{"a" 1}', "{a: 1}", "[1 2]", "1 2", "[1", ""]
POINTERS = ["", "/", "/a/b", "a/b", "$.a.b", "/a~2", "/a~", "/a~0~1", "$"]
DURATIONS = [
    "0s",
    "5",
    "1.5h",
    "1h30m",
    "1h 30m",
    "PT10M",
    "P1W",
    "P",
    "PT",
    "-1s",
    "soon",
    "1 fortnight",
    "365000d",
    "365001d",
    "P9999999W",
]
TIMESTAMPS = [
    "2026-01-31T09:30:00Z",
    "2026-01-31T09:30:00.5+01:00",
    "2026-01-31T09:30:00",
    "2026-01-31",
    "2026-02-30T09:30:00Z",
    "1969-12-31T23:59:59Z",
    "1970-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "soon",
]


def _shorten(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:80]}… ({len(text)} characters)"


def _lines(heading: str, rows: dict[str, Callable[[], Any]]) -> Iterator[str]:
    yield f"\n# {heading}\n\n"
    for shown, read in rows.items():
        try:
            result = f"accepted{_value(read())}"
        except (ValueError, AssumptionRefused, JsonRefused) as refused:
            result = str(refused)
        yield f"{_shorten(shown)} — {result}\n"


def _value(value: Any) -> str:
    """Return how a value that was read is shown, if it is short."""
    is_short = isinstance(value, str | int | float | tuple) and len(repr(value)) < 40
    return f": {value!r}" if is_short else ""


def _assumption(name: str, value: Any) -> Callable[[], Any]:
    return lambda: getattr(Assumptions().changed({name: value}), name)


def golden_text() -> str:
    """Return the text that the golden file must have."""
    sections: dict[str, dict[str, Callable[[], Any]]] = {
        "Assumptions": {
            f"{name}={json.dumps(value)}": _assumption(name, value) for name, value in ASSUMPTIONS
        },
        "JSON bodies": {repr(body)[1:]: partial(read_json, body) for body in BODIES},
        "JSON texts": {repr(text): partial(JsonText, text) for text in TEXTS},
        "JSON Pointers": {repr(pointer): partial(read_pointer, pointer) for pointer in POINTERS},
        "Durations": {text: partial(parse_duration_ms, text) for text in DURATIONS},
        "Timestamps": {text: partial(parse_timestamp, text) for text in TIMESTAMPS},
    }
    parts = (line for heading, rows in sections.items() for line in _lines(heading, rows))
    return HEADER + "".join(parts)


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text(), encoding="utf-8")
