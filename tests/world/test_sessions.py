"""Implicit sessions: each user has a current one, and after it has ended the next one."""

from __future__ import annotations

from hosting_emulator.world.sessions import (
    end_implicit_session,
    implicit_session_id,
    is_current,
)
from hosting_emulator.world.value import Change, World
from tests.support.in_process import fresh_world

USER = "01JGFJJZ00TGEYDG0VT5J9EZXF"


def with_next_session(world: World) -> World:
    """Return the world after the current implicit session of the user has ended."""
    change = Change(world, world.at_ms)
    end_implicit_session(change, USER)
    return change.applied()


def test_an_ended_implicit_session_is_not_current_and_the_next_one_is() -> None:
    before = fresh_world()
    ended_id = implicit_session_id(before, USER)
    after = with_next_session(before)
    current_id = implicit_session_id(after, USER)

    assert ended_id != current_id
    assert is_current(before, ended_id, USER)
    assert not is_current(after, ended_id, USER)
    assert is_current(after, current_id, USER)


def test_a_later_implicit_session_is_current_in_an_earlier_state_of_the_world() -> None:
    before = fresh_world()
    world = before
    for _ in range(3):
        world = with_next_session(world)
        assert is_current(before, implicit_session_id(world, USER), USER)


def test_a_session_belongs_to_one_user_of_one_world() -> None:
    world = fresh_world()
    session_id = implicit_session_id(world, USER)

    assert not is_current(world, session_id, "01JGFJJZ00TGEYDG0VT5J9EZXG")
    assert not is_current(fresh_world(seed="another"), session_id, USER)
    assert not is_current(world, None, USER)
