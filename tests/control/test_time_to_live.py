"""A world with a time to live ends when requests have stopped for that time, and not before."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest

from hosting_emulator.control import world_expiry
from tests.support.in_process import new_worlds, world_origin


class Timers:
    """The timers of an event loop, which fire when the test requests it."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Any, tuple[Any, ...]]] = []

    def call_later(self, seconds: float, act: Any, *arguments: Any) -> SimpleNamespace:
        self.calls.append((seconds, act, arguments))
        return SimpleNamespace(cancel=self.calls.clear)

    def ring(self) -> float:
        [(seconds, act, arguments)] = self.calls
        self.calls.clear()
        act(*arguments)
        return seconds


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    fake_timers = Timers()
    loop = SimpleNamespace(get_running_loop=lambda: fake_timers)
    monkeypatch.setattr(world_expiry, "asyncio", loop)
    return fake_timers


def test_a_world_with_a_time_to_live_lives_while_it_gets_requests(timers: Timers):
    worlds = new_worlds()
    engine = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    engine.ttl_ms = 90_000
    world_expiry.expire_when_unused(worlds, engine)

    for _ in range(3):
        engine.control_requests += 1
        assert timers.ring() == 90
        assert worlds.get("ci") is engine
    engine.log.count += 1  # a request of the public API
    timers.ring()
    assert worlds.get("ci") is engine

    timers.ring()
    assert worlds.get("ci") is None
    assert timers.calls == []


def test_a_world_with_a_time_to_live_lives_while_it_has_a_listener(timers: Timers):
    worlds = new_worlds()
    engine = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    engine.ttl_ms = 90_000
    world_expiry.expire_when_unused(worlds, engine)

    engine.feed.listen(print)
    for _ in range(3):
        timers.ring()
    engine.feed.leave(print)
    timers.ring()
    assert worlds.get("ci") is engine

    timers.ring()
    assert worlds.get("ci") is None


def test_a_time_to_live_does_not_end_a_later_world_of_the_same_name(timers: Timers):
    worlds = new_worlds()
    first = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    first.ttl_ms = 1_000
    world_expiry.expire_when_unused(worlds, first)
    worlds.delete("ci")
    worlds.create("ci", "seed", world_origin(), ephemeral=True)

    timers.ring()

    assert worlds.get("ci") is not None
    assert timers.calls == []


def test_a_world_without_a_time_to_live_has_no_timer(timers: Timers):
    worlds = new_worlds()
    engine = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    world_expiry.expire_when_unused(worlds, engine)

    assert timers.calls == []


def test_the_timer_of_a_deleted_world_holds_no_reference_to_it(timers: Timers):
    worlds = new_worlds()
    engine = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    engine.ttl_ms = 1_000
    reference = ref(engine)
    world_expiry.expire_when_unused(worlds, engine)
    engine.cancel_expiry()
    worlds.delete("ci")

    del engine
    gc.collect()

    assert reference() is None
    assert timers.calls == []


def test_a_world_that_cannot_be_deleted_stays_and_is_logged(
    timers: Timers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    worlds = new_worlds()
    engine = worlds.create("ci", "seed", world_origin(), ephemeral=True)
    engine.ttl_ms = 90_000
    world_expiry.expire_when_unused(worlds, engine)

    def fail(_: str) -> None:
        raise OSError(30, "Read-only file system")

    engine.ephemeral = False
    monkeypatch.setattr(worlds, "_store", SimpleNamespace(forget=fail))
    timers.ring()

    assert worlds.get("ci") is engine
    assert caplog.messages == ["the world could not be deleted: Read-only file system"]
    assert timers.calls == []
