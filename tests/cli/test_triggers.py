"""`triggers` lists what waits to act, and follows it."""

import json
from typing import Any

import pytest

from tests.support.control_samples import world
from tests.support.fake_control import FakeControl, event_stream

FAULT: dict[str, Any] = {
    "id": "fault-1",
    "kind": "abort",
    "optional": False,
    "considered": 1,
    "seen": 0,
    "hits": 0,
    "unused": "the nearest request was number 1, GET /v1/x, which differs in user (a instead of b)",
    "type": "fault",
    "effect": "abort code=forbidden",
    "spent": False,
    "waits_for": "a request with user b",
    "result": None,
}
ENTRY: dict[str, Any] = {
    "id": "timeline[0]",
    "kind": "set_plan",
    "optional": False,
    "considered": 0,
    "seen": 0,
    "hits": 0,
    "unused": "the entry is due at noon, but the world time is 11:00",
    "type": "timeline entry",
    "effect": "intervene set_plan plan=free",
    "spent": False,
    "waits_for": "the world time noon",
    "result": None,
}
ACTED = {
    **ENTRY,
    "hits": 1,
    "spent": True,
    "unused": None,
    "waits_for": None,
    "result": "acme is free",
}


@pytest.fixture(autouse=True)
def known_worlds(control: FakeControl) -> None:
    control.on("GET /worlds/default", world())


def triggers_are(control: FakeControl, *lists: list[dict[str, Any]]) -> None:
    """Let the emulator list these triggers, one list after the other."""
    control.on("GET /worlds/default/triggers", *({"items": rows} for rows in lists))


def test_triggers_says_below_the_table_why_a_fault_has_not_acted(ask, control: FakeControl):
    triggers_are(control, [FAULT, ENTRY])

    header, fault, entry, reason = ask("triggers").stdout.splitlines()

    assert header.split() == ["TRIGGER", "EFFECT", "WAITS", "FOR", "CONSIDERED", "SEEN", "HITS"]
    assert fault.split()[0] == "fault-1"
    assert "the world time noon" in entry
    assert reason == f"fault-1 has not acted: {FAULT['unused']}."


def test_triggers_says_what_a_timeline_entry_did(ask, control: FakeControl):
    triggers_are(control, [ACTED])

    _, row, result = ask("triggers").stdout.splitlines()

    assert row.split()[-4:] == ["-", "0", "0", "1"]
    assert result == "timeline[0]: acme is free."


def test_watched_triggers_are_printed_again_only_when_one_changes(ask, control: FakeControl):
    triggers_are(control, [ENTRY], [ENTRY], [ACTED])
    commit = ("commit", {"commit": 2})
    control.on("GET /worlds/default/events", event_stream(commit, commit))

    lines = ask("triggers", "--follow", "--json").stdout.splitlines()

    assert [json.loads(line) for line in lines] == [[ENTRY], [ACTED]]


def test_watched_triggers_are_separated_by_an_empty_line(ask, control: FakeControl):
    triggers_are(control, [ENTRY], [ACTED])
    control.on("GET /worlds/default/events", event_stream(("commit", {"commit": 2})))

    lines = ask("triggers", "--follow").stdout.splitlines()

    assert lines.count("") == 1
    assert lines[-1] == "timeline[0]: acme is free."
