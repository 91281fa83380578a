"""The rate limit: so many requests in a window of world time, for each principal."""

from __future__ import annotations

import json

import pytest

from hosting_emulator.calls.access import count_request
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.storage.documents import export_state, import_state
from hosting_emulator.world.value import Change, World
from tests.support.in_process import InProcess, fresh_world

START_MS = 1_000_000


class Limited:
    """A world with a rate limit, and requests of its people that only count."""

    def __init__(self, setting: str = "3/10s") -> None:
        self.world: World = fresh_world(rate_limit=setting)

    def count(self, who: str, now_ms: int, times: int = 1) -> None:
        for _ in range(times):
            change = Change(self.world, now_ms)
            count_request(change, who)
            self.world = change.applied()

    def refused(self, now_ms: int, who: str = "me") -> int | None:
        with pytest.raises(Refused) as found:
            self.count(who, now_ms)
        assert found.value.code == "rate_limited"
        return found.value.retry_after_seconds


def test_one_too_many_is_told_when_to_come_back():
    limited = Limited()
    limited.count("me", START_MS, times=3)

    assert limited.refused(START_MS) == 10
    assert limited.refused(START_MS + 9_001) == 1
    assert limited.refused(START_MS + 9_999) == 1

    limited.count("me", START_MS + 10_000)


def test_who_comes_back_when_told_is_let_in():
    limited = Limited()
    limited.count("me", START_MS, times=3)
    wait = limited.refused(START_MS + 1_234)

    assert wait is not None
    limited.count("me", START_MS + 1_234 + wait * 1_000)


def test_principals_do_not_count_for_each_other():
    limited = Limited()
    limited.count("me", START_MS, times=3)

    limited.count("you", START_MS)


def test_off_is_off():
    limited = Limited("off")
    limited.count("me", START_MS, times=1_000)


def test_a_day_is_the_longest_wait():
    limited = Limited("1/24h")
    limited.count("me", START_MS)

    assert limited.refused(START_MS) == 86_400


def test_what_was_counted_is_state_of_the_world():
    """It outlives a restart, which reads back what an export holds, and goes back with a rewind."""
    api = InProcess(fresh_world(rate_limit="2/10s"))
    assert [api.dns().status for _ in range(3)] == [200, 200, 429]
    state = json.loads(json.dumps(export_state(api.world)))

    again = InProcess(import_state(state, "default", 0))

    assert again.dns().status == 429


def test_a_rewind_takes_back_what_was_counted():
    api = InProcess(fresh_world(rate_limit="2/10s"))
    engine: Engine = api.engine
    began = engine.history[-1].world
    assert [api.dns().status for _ in range(3)] == [200, 200, 429]

    engine.replace_world(began)

    assert api.dns().status == 200
