"""The report of `requests replay` as text: requests that were not sent, long values, and notes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli.replay_text import replay_text


def replayed(n: int, **fields: Any) -> Any:
    recorded = SimpleNamespace(n=n, method="GET", target="/v1/x")
    values = {"recorded": recorded, "response": None, "differences": (), "skipped": None}
    return SimpleNamespace(**{**values, **fields})


def text_of(*requests: Any, left_out: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> str:
    report: Any = SimpleNamespace(
        world="w",
        requests=requests,
        notes=notes,
        differing=[request for request in requests if request.differences],
        skipped=[request for request in requests if request.skipped is not None],
    )
    record: Any = SimpleNamespace(left_out=left_out)
    return replay_text(report, record)


def test_the_text_names_requests_that_were_not_sent() -> None:
    same = replayed(9, response=SimpleNamespace(status=200))
    skipped = replayed(10, skipped="its operation was never created")

    assert text_of(same, replayed(11), skipped, notes=("Two users were merged",)).splitlines() == [
        "#9   same     200  GET /v1/x",
        "#11  same     ---  GET /v1/x",
        "#10  skipped  GET /v1/x: its operation was never created",
        "",
        "Note: Two users were merged.",
        "2 requests sent to w: 2 the same, 0 different, 1 skipped",
    ]


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [
        ((), None),
        (("GET /favicon.ico",), "GET /favicon.ico."),
        (("GET /favicon.ico", "GET /", "GET /x"), "GET /favicon.ico and 2 more."),
    ],
)
def test_the_text_names_one_entry_that_is_no_call_and_counts_the_others(
    left_out: tuple[str, ...], sentence: str | None
) -> None:
    notes = [line for line in text_of(left_out=left_out).splitlines() if line.startswith("Note")]

    expected = [f"Note: entries that are not calls were skipped: {sentence}"] if sentence else []
    assert notes == expected


def test_the_text_shortens_long_values() -> None:
    differences = (("body.a", "x" * 100, "y" * 101), ("body.b", None, {"c": "z" * 100}))
    request = replayed(1, differences=differences, response=SimpleNamespace(status=200))

    lines = text_of(request).splitlines()

    assert lines[1] == f"      body.a: was {'x' * 100}, now {'y' * 99}…"
    assert lines[2].startswith("      body.b: was null, now {")
    assert len(lines[2]) == len("      body.b: was null, now ") + 100
