"""The report of a world as text is short and aligned."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest
from msgspec import convert, to_builtins

from hosting_emulator.messages import Exchange, WorldReport
from hosting_emulator.sdk.exchange_text import response_text
from hosting_emulator.sdk.report_text import report_text
from tests.support.control_samples import exchange
from tests.support.http_world import HttpWorld

DOCUMENT: dict[str, Any] = {
    "world": "world-1",
    "base_url": "http://127.0.0.1:4620/worlds/world-1",
    "scenario": "stuck-operation.yaml",
    "clock": {
        "mode": "scaled",
        "now": "2026-01-01T00:00:00.000Z",
        "rate": 60,
        "next_due_at": "2026-01-01T00:00:02.000Z",
        "next_event": "apply project domains of shop becomes verifying",
        "pending": 2,
    },
    "commit": 7,
    "assumptions": {"rate_limit": "10/1m", "accepted_status": 201},
    "variation": None,
    "refused": [],
    "outcomes": [],
    "requests": {
        "total": 12,
        "items": [
            {
                "n": 11,
                "method": "GET",
                "path": "/v1/projects/01JGFJJZ00TGEYDG0VT5J9EZXF/nothing",
                "call": None,
                "user": None,
                "status": 404,
                "code": "resource_not_found",
                "lost": None,
                "replayed": False,
                "why": [],
                "problem": {"code": "resource_not_found", "detail": "The API has no\nsuch path."},
            },
            {
                "n": 12,
                "method": "PUT",
                "path": "/v1/projects/01JGFJJZ00TGEYDG0VT5J9EZXF/domains",
                "call": "apply_project_domains",
                "user": "owner",
                "status": 202,
                "code": None,
                "lost": "truncate",
                "replayed": True,
                "why": ["a replay", "fault-1 acted"],
                "problem": None,
            },
        ],
    },
    "operations": [
        {
            "operation": "01KDVDNA000000004MQC4BY7TH",
            "kind": "apply_project_domains",
            "project": "shop",
            "state": "running",
            "phase": "deploying",
            "sentences": ["It is running.", "The clock is scaled."],
            "next": {"at": "2026-01-01T00:00:02.000Z", "event": "it goes on to verifying"},
            "commands": ["hosting-emulator clock advance", "hosting-emulator fault clear"],
        },
        {
            "operation": "01KDVDNA000000004MQC4BY7TJ",
            "kind": "initialize_managed_source",
            "project": "blog",
            "state": "queued",
            "phase": "queued",
            "sentences": ["It is stuck.", "Nobody moves it.", "Really."],
            "next": None,
            "commands": [],
        },
    ],
    "faults": [
        {
            "id": "fault-1",
            "order": 0,
            "truncate": {},
            "call": "list_deployments",
            "times": 1,
            "after_commit": True,
            "armed_at": "2026-01-01T00:00:00.000Z",
            "considered": 5,
            "seen": 3,
            "hits": 1,
            "spent": True,
            "unused": None,
        },
        {
            "id": "fault-2",
            "timeout": {},
            "header": {"X-A": "*"},
            "after_commit": False,
            "considered": 2,
            "seen": 0,
            "hits": 0,
            "spent": False,
            "unused": "there was no such header",
        },
    ],
}
TEXT = inspect.cleandoc(
    """
    world    world-1 at http://127.0.0.1:4620/worlds/world-1, scenario stuck-operation.yaml, commit 7
    clock    scaled at 60x, 2026-01-01T00:00:00.000Z; 2 events to come, the next at 2026-01-01T00:00:02.000Z
    assumed  rate_limit=10/1m, accepted_status=201
    12 requests, the last 2
      #11  GET  /v1/projects/…EZXF/nothing  -      404 resource_not_found        — The API has no such path.
      #12  PUT  apply_project_domains       owner  202 replayed lost (truncate)  — a replay; fault-1 acted
    2 operations not ended
      01KDVDNA000000004MQC4BY7TH  apply_project_domains of shop is running (deploying)
        next, at 2026-01-01T00:00:02.000Z: it goes on to verifying
        try: hosting-emulator clock advance
      01KDVDNA000000004MQC4BY7TJ  initialize_managed_source of blog is queued
        It is stuck.
        Nobody moves it.
    2 faults: 1 armed, 1 used up
      fault-1  truncate  after the commit call=list_deployments times=1  considered 5, seen 3, hits 1, used up
      fault-2  timeout   before the commit header=X-A:*                  considered 2, seen 0, hits 0
      fault-2 never acted: there was no such header.
    """
)


#: The members of an exchange, and of an explanation, that no line of a report shows.
EXCHANGE: dict[str, Any] = {
    "at": "2026-01-01T00:00:00.000Z",
    "query": "",
    "project": None,
    "operation": None,
    "user_id": None,
    "idempotency_key": None,
    "varied": [],
    "duration_us": 1.0,
    "in_progress": False,
}
EXPLANATION: dict[str, Any] = {
    "finished": False,
    "reconciliation": None,
    "at": "2026-01-01T00:00:00.000Z",
    "waits_for": None,
    "held_by": None,
}


def read(document: dict[str, Any]) -> WorldReport:
    """Return a report with the members that its text does not show."""
    requests = document["requests"]
    items = [{**EXCHANGE, **item} for item in requests["items"]]
    operations = [{**EXPLANATION, **operation} for operation in document["operations"]]
    whole = {**document, "requests": {**requests, "items": items}, "operations": operations}
    return convert(whole, WorldReport)


def test_a_report_contains_clock_requests_operations_and_faults():
    assert report_text(read(DOCUMENT)) == TEXT


def test_colors_change_no_word_of_a_report():
    colored = report_text(read(DOCUMENT), color=True)

    assert re.sub(r"\x1b\[\d+m", "", colored) == TEXT
    lines = colored.splitlines()
    assert lines[0].startswith("\x1b[1mworld  \x1b[0m  world-1 at ")
    assert lines[4].startswith("\x1b[33m  #11  GET")
    assert lines[4].endswith("\x1b[0m")
    assert lines[5].startswith("\x1b[31m  #12  PUT")
    assert lines[6] == "\x1b[1m2 operations not ended\x1b[0m"


def test_colors_of_a_report_end_with_their_line():
    for line in report_text(read(DOCUMENT), color=True).splitlines():
        assert line.count("\x1b[0m") == line.count("\x1b[") / 2


def test_a_report_stays_short():
    many = {
        **DOCUMENT,
        "requests": {"total": 5000, "items": DOCUMENT["requests"]["items"] * 50},
        "operations": DOCUMENT["operations"] * 5,
        "faults": DOCUMENT["faults"] * 10,
        "assumptions": {f"assumption_{n}": "x" * 50 for n in range(40)},
    }
    many["requests"]["items"][-1]["why"] = ["word " * 100]

    lines = report_text(read(many)).splitlines()

    assert len(lines) <= 45
    assert max(map(len, lines)) <= 200
    assert "  … and 7 more" in lines
    assert lines[-1] == "  … and 15 more"


def test_a_report_of_a_real_world_survives_json(api: HttpWorld):
    emulator = api.emulator
    operation = api.apply_domains(key="k").json
    emulator.fault("abort", code="rate_limited", call="list_deployments", times=2)
    api.deployments()

    text = emulator.report()

    document = json.loads(json.dumps(to_builtins(emulator.report_document())))
    assert report_text(convert(document, WorldReport)) == text
    assert f"\n  {operation['id']}  apply_project_domains of shop is queued\n" in text
    assert "\n  #1  PUT  apply_project_domains  owner  202\n" in text
    assert "  #2  GET  list_deployments       owner  429 rate_limited  — " in text
    assert text.endswith("call=list_deployments times=2  considered 1, seen 1, hits 1")
    assert emulator.report(requests=1).count("  #") == 1
    assert "\x1b[1m" in emulator.report(color=True)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "no requests"), (1, "1 request\n"), (2, "2 requests\n")]
)
def test_a_report_spells_counts_correctly(count: int, words: str):
    items = DOCUMENT["requests"]["items"][:count]

    assert words in report_text(read({**DOCUMENT, "requests": {"total": count, "items": items}}))


@pytest.mark.parametrize(
    ("variation", "lines"),
    [
        (
            {"seed": "7", "only": None, "varied": {}, "assumed": {}},
            [
                "varied   by seed 7: nothing yet",
                "again    --vary 7 (start, exec, scenario run), or --hosting-emulator-vary=7 (pytest)",
            ],
        ),
        (
            {
                "seed": "a b",
                "only": ["page-size", "key-order"],
                "varied": {"key-order": 2, "page-size": 1},
                "assumed": {},
            },
            [
                "varied   by seed a b, confined to page-size, key-order: key-order, page-size",
                "again    --vary 'a b' --vary-only page-size --vary-only key-order (start, exec, scenario "
                "run), or --hosting-emulator-vary='a b' --hosting-emulator-vary-only=page-size,key-order "
                "(pytest)",
            ],
        ),
    ],
)
def test_a_report_says_how_to_repeat_a_variation(variation: dict[str, Any], lines: list[str]):
    text = report_text(read({**DOCUMENT, "variation": variation}))

    assert text.splitlines()[3:5] == lines


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({}, "200"),
        ({"status": 409, "code": "etag_mismatch"}, "409 etag_mismatch"),
        ({"replayed": True}, "200 replayed"),
        ({"lost": "timeout"}, "200 lost (timeout)"),
        ({"stale_at": "2030-01-31T09:29:00.000Z"}, "200 stale"),
        ({"second_delivery_of": 7}, "200 second delivery of #7"),
        ({"discarded": True}, "200 discarded"),
        ({"status": 0, "in_progress": True}, "in progress"),
        ({"status": 0}, "no response"),
    ],
)
def test_a_response_is_described_with_everything_that_is_unusual_about_it(
    members: dict[str, Any], text: str
):
    assert response_text(convert(exchange(12, **members), Exchange)) == text
