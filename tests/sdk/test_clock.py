"""Tests read and change the time of a world."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.http_world import HttpWorld


def test_the_clock_advances_by_texts_numbers_and_timedeltas(hosting_emulator: HostingEmulator):
    clock = hosting_emulator.clock
    assert clock.now == "2026-01-01T00:00:00.000Z"

    assert clock.advance("10m") == "2026-01-01T00:10:00.000Z"
    assert clock.advance(timedelta(seconds=1, milliseconds=5)) == "2026-01-01T00:10:01.005Z"
    assert clock.advance(59) == "2026-01-01T00:11:00.005Z"
    assert clock.advance(0.995) == clock.now == "2026-01-01T00:11:01.000Z"


def test_the_clock_advances_to_a_time(hosting_emulator: HostingEmulator):
    clock = hosting_emulator.clock

    assert clock.advance_to("2026-01-02T00:00:00Z") == "2026-01-02T00:00:00.000Z"
    assert clock.advance_to(datetime(2026, 1, 3, tzinfo=UTC)) == "2026-01-03T00:00:00.000Z"


def test_the_clock_refuses_invalid_times(hosting_emulator: HostingEmulator):
    clock = hosting_emulator.clock

    for span in (-1, timedelta(days=-1), float("inf"), float("nan")):
        words = re.escape(f"{span!r} is not a span: use a finite span that is not negative")
        with pytest.raises(ValueError, match=f"{words}$"):
            clock.advance(span)
    with pytest.raises(ControlRefused, match="'soon'") as refused:
        clock.advance("soon")
    assert (refused.value.status, refused.value.title) == (400, "Bad duration")
    with pytest.raises(ValueError, match=r"has no time zone: give it one, such as datetime\.UTC"):
        clock.advance_to(datetime(2027, 1, 1))
    with pytest.raises(ControlRefused):
        clock.advance_to("2025-01-01T00:00:00Z")
    assert clock.now == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"at": "2025-01-01T00:00:00Z"}, 409),
        ({"at": "2027-01-01T00:00:00Z", "mode": "bogus"}, 400),
        ({"mode": "bogus"}, 400),
        ({"at": "2027-01-01T00:00:00Z", "mode": "real", "rate": 2}, 400),
    ],
)
def test_only_a_time_that_has_passed_is_a_conflict(
    hosting_emulator: HostingEmulator, change: dict[str, Any], status: int
):
    world = hosting_emulator

    with pytest.raises(ControlRefused) as refused:
        world.control.put(f"worlds/{world.name}/clock", change)

    assert refused.value.status == status


def test_the_clock_advances_until_an_operation_has_ended(api: HttpWorld):
    clock = api.emulator.clock
    first = api.apply_domains().json
    second = api.initialize(project="blog").json

    assert clock.until(first) == "succeeded"
    assert clock.until(second["id"]) == "succeeded"
    assert api.poll(first["id"]).json["state"] == "succeeded"


def test_advancing_until_an_operation_ends_returns_its_state(api: HttpWorld):
    operation = api.initialize().json
    api.emulator.intervene("fail_operation", operation=operation["id"])

    assert api.emulator.clock.until(operation) == "failed"


def test_the_clock_cannot_advance_until_a_stuck_operation_ends(api: HttpWorld):
    operation = api.apply_domains().json
    api.emulator.intervene("stick_operation", operation=operation["id"])

    with pytest.raises(ControlRefused, match="does not advance with time"):
        api.emulator.clock.until(operation)


def test_the_clock_refuses_a_document_that_is_no_operation(hosting_emulator: HostingEmulator):
    with pytest.raises(
        ValueError, match="this is not an operation, because it has no id: forbidden"
    ):
        hosting_emulator.clock.until({"code": "forbidden"})
    with pytest.raises(ValueError, match="no id: it has items, next_cursor"):
        hosting_emulator.clock.until({"items": [], "next_cursor": "x"})


def test_the_clock_changes_its_mode(hosting_emulator: HostingEmulator):
    clock = hosting_emulator.clock
    modes = [clock.mode]

    for change in (clock.run, clock.skip, lambda: clock.scale(60), clock.freeze):
        change()
        modes.append(clock.mode)
    clock.set("scaled", rate=2)

    assert modes == ["frozen", "real", "skip", "scaled", "frozen"]
    assert clock.mode == "scaled"


def test_the_clock_returns_the_time_of_the_next_due_event(api: HttpWorld):
    api.apply_domains()

    assert api.emulator.clock.next_due_at == "2026-01-01T00:00:02.000Z"


def test_the_clock_refuses_an_object_that_is_no_operation(hosting_emulator: HostingEmulator):
    response: Any = object()

    with pytest.raises(
        ValueError, match="this object is not an operation: give the id or the JSON"
    ):
        hosting_emulator.clock.until(response)
