"""The state after a run is the state before it, with the changes of each chapter."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.world_changes import WorldChanges
from tests.lab.judge.samples import key_row, state


class _Clock:
    mode = "skip"
    now = "2026-01-01T00:00:00Z"

    @property
    def state(self) -> _Clock:
        return self


class _World:
    """A world whose clock skips."""

    name = "default"
    clock = _Clock()


class _Chapter:
    """A chapter of an observation."""

    released = False

    def __init__(self, index: int, world: str) -> None:
        self.index = index
        self.world = world


class _Observation:
    """An observation whose chapters begin with one API key, and end with two."""

    def __init__(self) -> None:
        self.exports: list[str] = []

    def state(self, index: int, *, began: bool) -> JsonObject:
        self.exports.append("began" if began else "last")
        keys = {"1": key_row("old")} if began else {"1": key_row("old"), "2": key_row("ci")}
        tables = {
            "organizations": {"O": {"alias": "acme"}},
            "users": {"P": {"alias": "owner"}},
            "projects": {},
            "user_api_keys": keys,
        }
        return {"tables": tables}


@pytest.mark.parametrize(
    ("index", "world", "exports"),
    [
        (0, "default", ["last"]),
        (1, "default", ["last", "began"]),
        (0, "run-2", ["last", "began"]),
    ],
)
def test_only_the_first_chapter_of_the_world_of_the_run_begins_in_the_known_state(
    index: int, world: str, exports: list[str]
) -> None:
    observation: Any = _Observation()
    chapter: Any = _Chapter(index, world)
    run_world: Any = _World()
    start = state(user_api_keys={"1": key_row("old")})
    rows = WorldChanges(run_world).state(start, observation, [chapter], begins_at_start=True)
    assert (
        rows["API key"] == state(user_api_keys={"1": key_row("old"), "2": key_row("ci")})["API key"]
    )
    assert observation.exports == exports


@pytest.mark.parametrize(("begins_with_it", "count"), [(True, 0), (False, 1)])
def test_an_operation_of_another_program_is_no_change_of_a_world_that_began_with_it(
    begins_with_it: bool, count: int
) -> None:
    """In a world that a test creates, an operation of the client may have the same id."""
    operation = {"kind": "apply_project_domains", "project_id": "S", "state": "succeeded"}
    observation: Any = _Observation()

    states = {began: observation.state(0, began=began) for began in (True, False)}
    states[True]["tables"]["operations"] = {"X": operation} if begins_with_it else {}
    states[False]["tables"]["operations"] = {"X": operation}
    observation.state = lambda index, began: states[began]
    chapter: Any = _Chapter(0, "default")
    run_world: Any = _World()
    changes = WorldChanges(run_world)
    changes.ignore_operation("X")
    rows = changes.state(state(), observation, [chapter])
    assert rows["operation"].total() == count


def test_a_chapter_that_was_released_changes_nothing() -> None:
    observation: Any = _Observation()
    released: Any = _Chapter(0, "default")
    released.released = True
    later: Any = _Chapter(1, "default")
    run_world: Any = _World()
    start = state(user_api_keys={"1": key_row("old")})
    assert WorldChanges(run_world).state(start, observation, [released]) == start
    assert observation.exports == []
    rows = WorldChanges(run_world).state(start, observation, [released, later])
    assert rows["API key"].total() == 2
