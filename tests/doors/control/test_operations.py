"""The control API and the SDK list operations with ages, and find one by its project."""

from __future__ import annotations

from datetime import datetime

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.http_world import HttpWorld


def test_an_operation_has_an_age_in_world_time_and_says_what_it_waits_for(api: HttpWorld) -> None:
    first = api.apply_domains(key="a").json["id"]
    second = api.apply_domains(key="b").json["id"]
    api.emulator.clock.advance("500ms")

    rows = {row.id: row for row in api.emulator.operations(unfinished=True)}

    assert rows[first].age_ms == rows[second].age_ms == 500
    assert "due at" in str(rows[first].wait_reason)
    assert first in str(rows[second].wait_reason)


def test_the_age_of_an_operation_that_the_world_began_with_agrees_with_its_creation(
    api: HttpWorld,
) -> None:
    rows = api.emulator.operations()

    assert any(row.age_ms > 0 for row in rows)
    for row in rows:
        created_at = datetime.fromisoformat(row.created_at)
        now = datetime.fromisoformat(api.emulator.clock.state.now)

        assert row.age_ms == round((now - created_at).total_seconds() * 1000)


def test_operations_can_be_selected_by_project_and_by_end(api: HttpWorld) -> None:
    ended = api.apply_domains(key="a").json["id"]
    api.emulator.clock.until(ended)
    running = api.apply_domains(key="b").json["id"]

    assert [row.id for row in api.emulator.operations(project="shop")][-2:] == [ended, running]
    assert [row.id for row in api.emulator.operations(project="shop", unfinished=True)] == [running]
    assert running not in [row.id for row in api.emulator.operations(project="blog")]
    with pytest.raises(ControlRefused, match="did you mean shop"):
        api.emulator.operations(project="shpo")


def test_a_project_stands_for_its_operation_in_progress_or_for_its_latest(api: HttpWorld) -> None:
    running = api.apply_domains(key="a").json["id"]
    queued = api.apply_domains(key="b").json["id"]

    assert api.emulator.why("shop").operation == running
    assert api.emulator.why(api.project_id("shop")).operation == running

    api.emulator.clock.until(queued)
    assert api.emulator.why("shop").operation == queued
    assert api.emulator.why("shop").finished


def test_a_project_without_operations_is_refused(api: HttpWorld) -> None:
    api.emulator.intervene("add", projects=[{"alias": "empty", "organization": "acme"}])

    with pytest.raises(ControlRefused, match="project empty has no operation"):
        api.emulator.why("empty")
    with pytest.raises(ControlRefused, match="no operation and no project 'emty'; did you mean"):
        api.emulator.why("emty")
