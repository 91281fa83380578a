"""A temporary world begins like the world of a recording, except for what the user changes."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.replay import Beginning, temporary_world
from hosting_emulator_lab.replay.recording import RecordedWorld, Recording
from tests.support.http_world import HttpWorld

NOW = "2026-01-01T00:00:00.000Z"
AT = "2030-01-01T00:00:00.000Z"
BEGAN_AT = "2029-01-01T00:00:00.000Z"
RECORDED = {"accepted_status": 200}
CHANGED = {"accepted_status": 201, "last_page_cursor": "null"}


def begun(api: HttpWorld, beginning: Beginning, **fields: Any) -> tuple[str, dict[str, Any], bool]:
    """Return the time and the assumptions with which a temporary world begins, and whether it has a key.

    `fields` are those of the recording. The recorded state, if there is one, has an API key.
    """
    world = RecordedWorld(
        at=fields.pop("at", AT), began_at=fields.pop("began_at", None), assumptions=RECORDED
    )
    record = Recording((), from_emulator=True, world=world, **fields)
    with temporary_world(api.emulator.control, record, beginning) as temporary:
        summary = temporary.summary
        assert summary.clock.mode == "frozen"
        assert (summary.scenario or "").removesuffix(".yaml") == (beginning.scenario or "")
        if beginning.seed is not None:
            assert summary.seed == beginning.seed
        return summary.clock.now, summary.assumptions, bool(summary.counts["api_keys"])


@pytest.mark.parametrize(
    ("beginning", "fields", "expected"),
    [
        (Beginning(), {}, (AT, RECORDED, False)),
        (Beginning(), {"began_at": BEGAN_AT}, (BEGAN_AT, RECORDED, False)),
        (Beginning(seed="x", assumptions=CHANGED), {}, (AT, CHANGED, False)),
        (Beginning(), {"at": None}, (NOW, RECORDED, False)),
    ],
    ids=["its time", "the time at which it began", "changed", "unknown time"],
)
def test_a_temporary_world_has_the_recorded_time_and_assumptions(
    api: HttpWorld,
    beginning: Beginning,
    fields: dict[str, Any],
    expected: tuple[str, dict[str, Any], bool],
) -> None:
    assert begun(api, beginning, **fields) == expected


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [
        (Beginning(), (NOW, {}, True)),
        (Beginning(assumptions=CHANGED), (NOW, CHANGED, True)),
        (Beginning(seed="x"), (AT, RECORDED, False)),
    ],
    ids=["unchanged", "other assumptions", "another seed"],
)
def test_a_temporary_world_continues_the_recorded_state_unless_its_seed_changes(
    api: HttpWorld, beginning: Beginning, expected: tuple[str, dict[str, Any], bool]
) -> None:
    api.create_key("ci")

    assert begun(api, beginning, state=api.emulator.export()) == expected


def test_temporary_worlds_of_one_recording_create_the_same_ids(api: HttpWorld) -> None:
    world = RecordedWorld(at=AT, began_at=None, assumptions=RECORDED)
    record = Recording((), from_emulator=True, world=world, state=api.emulator.export())
    ids = []
    for _ in range(2):
        with temporary_world(api.emulator.control, record, Beginning()) as temporary:
            ids.append(HttpWorld(temporary).create_key("ci").json["key"]["id"])

    assert ids[0] == ids[1]


def test_a_scenario_has_its_own_time_and_assumptions(api: HttpWorld) -> None:
    scenario = Beginning(scenario="api-key-revoked", assumptions=CHANGED)

    now, assumptions, _ = begun(api, scenario)

    assert now != AT
    assert assumptions == CHANGED
