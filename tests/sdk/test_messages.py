"""Messages of the control API in the SDK: what a newer emulator adds, and what an older one lacks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hosting_emulator.messages import (
    AlteredPart,
    Exchange,
    FaultState,
    HeaderValues,
    NextStep,
    Why,
    merge_written,
    split_written,
)
from hosting_emulator.messages.requests import Message
from hosting_emulator.sdk import ControlClient, UnreadableMessage
from tests.support.control_samples import HEALTH, exchange, fault, world
from tests.support.fake_control import FakeControl, FakeResponse


def test_a_member_of_a_newer_emulator_is_ignored(
    control: FakeControl, client: ControlClient
) -> None:
    newer = FakeResponse({**HEALTH, "mood": "cheerful"}, deliberately_wrong=True)
    control.on("GET /health", newer)

    health = client.health()

    assert health.status == "ok"
    assert not hasattr(health, "mood")


def test_a_missing_member_is_one_clear_error(control: FakeControl, client: ControlClient) -> None:
    control.on("GET /health", FakeResponse({"status": "ok"}, deliberately_wrong=True))

    with pytest.raises(UnreadableMessage) as caught:
        client.health()

    assert str(caught.value) == (
        f"the emulator at {client.control_url} sent a message of type Health that this client "
        "cannot read: Object missing required field `version`. Use the same version of the "
        "emulator and of this client."
    )


def test_an_armed_fault_without_its_counts_is_one_clear_error(
    control: FakeControl, client: ControlClient
) -> None:
    document = {name: value for name, value in fault().items() if name != "hits"}
    control.on("GET /worlds/w", world("w"))
    control.on("POST /worlds/w/faults", fault())
    control.on("GET /worlds/w/faults/fault-1", FakeResponse(document, deliberately_wrong=True))
    armed = client.world("w").arm({"timeout": {}})

    with pytest.raises(UnreadableMessage, match=r"a message of type FaultState .*`hits`"):
        _ = armed.now


def test_a_message_is_readable_and_cannot_be_changed(
    control: FakeControl, client: ControlClient
) -> None:
    control.on("GET /health", HEALTH)

    health = client.health()

    assert repr(health).startswith("Health(status='ok', version=")
    with pytest.raises(AttributeError, match="immutable"):
        health.version = "2"  # type: ignore[misc]


def test_an_armed_fault_holds_what_was_written_beside_its_counts(
    control: FakeControl, client: ControlClient
) -> None:
    control.on("GET /worlds/w", world("w"))
    control.on("POST /worlds/w/faults", fault())

    state = client.world("w").arm({"timeout": {}}).state

    assert state.id == fault()["id"]
    assert state.hits == fault()["hits"]
    assert not {"id", "order", "after_commit", "armed_at", "hits"} & state.written.keys()
    assert state.written == {
        name: value for name, value in fault().items() if name in state.written
    }
    assert state.written


def test_the_values_of_a_repeated_header_are_joined_whatever_the_case_of_its_name() -> None:
    headers = HeaderValues([("Vary", "Origin"), ("Date", "today"), ("VARY", "Accept")])

    assert (headers["vary"], headers["date"]) == ("Origin, Accept", "today")
    assert "Allow" not in headers


def explanation(**members: Any) -> Why:
    values: dict[str, Any] = {
        "operation": "01JGFJJZ00TGEYDG0VT5J9EZXF",
        "kind": "apply_project_domains",
        "project": "shop",
        "state": "running",
        "finished": False,
        "phase": "deploying",
        "reconciliation": None,
        "at": "2026-01-31T09:30:00.000Z",
        "sentences": ["It is stuck.", "An intervention held it."],
        "next": NextStep(at="2026-01-31T09:31:00.000Z", event="it fails"),
        "waits_for": None,
        "held_by": "stick_operation",
        "commands": ["hosting-emulator intervene release"],
    }
    return Why(**(values | members))


def test_an_explanation_as_text_has_a_line_for_each_of_its_parts() -> None:
    assert str(explanation()) == (
        "apply_project_domains of shop (01JGFJJZ00TGEYDG0VT5J9EZXF) is running (deploying) "
        "at 2026-01-31T09:30:00.000Z\n"
        "  It is stuck.\n"
        "  An intervention held it.\n"
        "  next, at 2026-01-31T09:31:00.000Z: it fails\n"
        "  try: hosting-emulator intervene release"
    )


@pytest.mark.parametrize(("state", "phase"), [("queued", "queued"), ("failed", "done")])
def test_an_explanation_names_no_phase_that_only_repeats_the_state(state: str, phase: str) -> None:
    nothing = explanation(state=state, phase=phase, sentences=[], next=None, commands=[])

    assert str(nothing) == (
        f"apply_project_domains of shop (01JGFJJZ00TGEYDG0VT5J9EZXF) is {state} "
        "at 2026-01-31T09:30:00.000Z"
    )


@pytest.mark.parametrize(
    ("status", "lost", "failed"),
    [(200, None, False), (399, None, False), (400, None, True), (200, "timeout", True)],
)
def test_an_exchange_has_failed_if_its_status_is_an_error_or_its_response_was_lost(
    status: int, lost: str | None, failed: bool
) -> None:
    summary = msgspec.convert(exchange(1, status=status, lost=lost), Exchange)

    assert summary.failed is failed


@pytest.mark.parametrize(
    ("part", "before", "after", "text"),
    [
        ("/zone", '"a"', '"b"', '/zone changed from "a" to "b"'),
        ("/extra", None, "5", "/extra was added: 5"),
        ("Retry-After", "7", None, "Retry-After was removed: 7"),
        ("", "{}", "[]", "the body changed from {} to []"),
    ],
)
def test_an_altered_part_says_what_changed(
    part: str, before: str | None, after: str | None, text: str
) -> None:
    altered = AlteredPart(fault="fault-1", part=part, before=before, after=after)

    assert altered.describe() == text


@pytest.mark.parametrize("body", ["", "{}", "[1]", "<html>", '"a"'])
def test_the_content_of_a_message_is_parsed_json_or_its_text(body: str) -> None:
    expected: dict[str, object] = {"": None, "{}": {}, "[1]": [1], "<html>": "<html>", '"a"': "a"}

    content = Message(headers=[], body=body, body_bytes=len(body), body_cut=False).content

    assert content == expected[body]


def test_a_fault_is_written_with_its_counts_and_without_empty_members() -> None:
    document = fault() | {"unused": None, "note": None}

    merged = merge_written(msgspec.convert(split_written(document, FaultState), FaultState))

    assert merged == {name: value for name, value in document.items() if name != "note"}
