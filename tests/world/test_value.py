"""The world as a value: a change reads through to its world, and applying it makes the next world."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.world.records import RememberedResponse, ScheduledEvent
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.tables import (
    CLOCK,
    OPERATIONS,
    PROJECTS,
    REMEMBERED,
    SCHEDULE,
    SINGLETON_KEY,
    STREAMS,
)
from hosting_emulator.world.value import Change, apply, empty_world
from tests.support.exported_worlds import stored_rows
from tests.support.in_process import InProcess, fresh_world


@pytest.fixture
def world():
    return fresh_world()


def test_a_change_reads_its_own_writes_and_then_the_world(world):
    change = Change(world, world.at_ms)
    project_id = world.indexes["project:shop"]

    change.put(STREAMS, "mine", 7)
    change.delete(PROJECTS, project_id)

    assert change.get(STREAMS, "mine") == 7
    assert change.get(PROJECTS, project_id) is None
    assert change.get(PROJECTS, world.indexes["project:blog"]) is not None
    with pytest.raises(KeyError, match="projects has no"):
        change.row(PROJECTS, project_id)


def test_a_change_that_takes_over_a_fork_has_its_records_and_its_next_event(world):
    change = Change(world, world.at_ms)
    fork = change.fork()
    fork.put(STREAMS, "mine", 7)
    key = schedule_event(fork, world.at_ms + 5, "operation_step", "x")
    before = (change.get(STREAMS, "mine"), change.next_due(world.at_ms + 5))

    change.merge(fork)

    assert before == (None, None)
    assert change.get(STREAMS, "mine") == 7
    assert change.next_due(world.at_ms + 5) == key
    assert change.next_due(world.at_ms + 4) is None


def test_a_change_leaves_its_world_alone_and_counts_one_commit(world):
    before = list(stored_rows(world))
    change = Change(world, world.at_ms + 5)
    change.put(STREAMS, "mine", 7)

    following = change.applied()

    assert list(stored_rows(world)) == before
    assert following.get(STREAMS, "mine") == 7
    assert (following.commit, following.at_ms) == (world.commit + 1, world.at_ms + 5)


def test_a_row_put_and_deleted_again_is_no_change(world):
    change = Change(world, world.at_ms)

    change.put(STREAMS, "mine", 7)
    change.delete(STREAMS, "mine")

    assert change.is_empty


def test_deleting_a_missing_row_is_no_change(world):
    change = Change(world, world.at_ms)

    change.delete(STREAMS, "nowhere")

    assert change.is_empty


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=150))
def test_a_table_contains_exactly_the_rows_that_were_written(steps):
    world = empty_world("w", "s")
    expected = dict[str, int]()
    for number, (key, is_put) in enumerate(steps):
        before = world
        had = dict(expected)
        change = Change(world, 0)
        if is_put:
            change.put(STREAMS, f"s{key}", number)
            expected[f"s{key}"] = number
        else:
            change.delete(STREAMS, f"s{key}")
            expected.pop(f"s{key}", None)
        world = change.applied()
        assert dict(before.rows(STREAMS)) == had

    assert dict(world.rows(STREAMS)) == expected
    assert world.count(STREAMS) == len(expected)


def test_the_time_of_a_world_never_goes_back(world):
    change = Change(world, world.at_ms - 1_000)
    change.put(STREAMS, "mine", 7)

    assert change.applied().at_ms == world.at_ms


def test_a_change_sees_its_own_events_in_order(world):
    at_ms = world.at_ms
    change = Change(world, at_ms)
    change.put(SCHEDULE, "later", ScheduledEvent(at_ms + 20, 102, "operation_step", "x"))
    change.put(SCHEDULE, "sooner", ScheduledEvent(at_ms + 10, 101, "operation_step", "x"))
    change.put(SCHEDULE, "gone", ScheduledEvent(at_ms + 5, 100, "operation_step", "x"))
    change.delete(SCHEDULE, "gone")

    for key in ("sooner", "later"):
        assert change.next_due(at_ms + 20) == key
        change.delete(SCHEDULE, key)
    assert change.next_due(at_ms + 20) is None


#: An event is put at a moment, or the one under a key is deleted.
EVENTS = st.lists(
    st.tuples(st.integers(0, 20), st.one_of(st.integers(0, 9), st.none())), max_size=60
)


@given(steps=EVENTS)
@settings(deadline=None)
def test_events_come_due_in_order_after_any_puts_and_deletes(steps):
    world = fresh_world()
    for key in [key for key, _ in world.rows(SCHEDULE)]:
        change = Change(world, world.at_ms)
        change.delete(SCHEDULE, key)
        world = change.applied()
    model: dict[str, tuple[int, int]] = {}

    for number, (key, due_ms) in enumerate(steps):
        change = Change(world, world.at_ms)
        if due_ms is None:
            change.delete(SCHEDULE, str(key))
            model.pop(str(key), None)
        else:
            change.put(SCHEDULE, str(key), ScheduledEvent(due_ms, number, "operation_step", "x"))
            model[str(key)] = (due_ms, number)
        world = change.applied()

        expected = min(model.items(), key=lambda item: item[1], default=(None, (None,)))
        assert world.next_due_ms == expected[1][0]
        assert Change(world, 0).next_due(20) == expected[0]


#: An answer is remembered under one of some keys, or the oldest is forgotten.
@given(steps=st.lists(st.one_of(st.integers(0, 9), st.none()), max_size=60))
@settings(deadline=None)
def test_remembered_responses_are_evicted_in_the_order_of_storing(steps):
    world = fresh_world()
    queue = list[str]()

    for step in steps:
        change = Change(world, world.at_ms)
        if step is not None:
            key = f"key {step}"
            queue = [*(other for other in queue if other != key), key]
            change.put(REMEMBERED, key, RememberedResponse("f", "c", 200, "", expires_ms=0))
        elif queue:
            change.delete(REMEMBERED, queue.pop(0))
        world = change.applied()

        waiting = world.remembered
        oldest, _ = waiting.entries.get(waiting.first, (None, None))
        assert oldest == (queue[0] if queue else None)
        assert list(world.remembered_in_order()) == queue


@pytest.mark.parametrize(("table", "most"), [(REMEMBERED, 20_000), (SCHEDULE, 5_000)])
def test_adding_a_row_costs_little_for_any_number_of_waiting_rows(world, table, most):
    def row(number):
        if table is SCHEDULE:
            return ScheduledEvent(world.at_ms + 1, 1_000 + number, "operation_step", "x")
        return RememberedResponse("f", "c", 200, "", expires_ms=0)

    def cost_s(waiting):
        rows = {str(number): row(number) for number in range(waiting)}
        full = apply(world, {table.name: rows}, commit=9, at_ms=world.at_ms)
        times_s = []
        for _ in range(7):
            change = Change(full, world.at_ms)
            start_s = time.perf_counter()
            change.put(table, "one more", row(waiting))
            change.applied()
            change.next_due(world.at_ms)
            times_s.append(time.perf_counter() - start_s)
        return min(times_s)

    few, many = (cost_s(waiting) for waiting in (10, most))
    assert many < 10 * few + 0.000_2, (few, many)


def test_deleted_events_are_never_next(world):
    at_ms = world.at_ms
    for key, due in (("a", 1), ("b", 2), ("c", 3)):
        change = Change(world, at_ms)
        change.put(SCHEDULE, key, ScheduledEvent(at_ms + due, 100 + due, "operation_step", "x"))
        world = change.applied()
    change = Change(world, at_ms)
    change.delete(SCHEDULE, "a")
    change.delete(SCHEDULE, "b")

    assert change.applied().next_due_ms == at_ms + 3


def test_a_changed_clock_row_is_the_clock_of_the_world(world):
    change = Change(world, world.at_ms)
    clock = world.clock.__class__("skip", world.at_ms, 0)
    change.put(CLOCK, SINGLETON_KEY, clock)

    assert change.applied().clock is clock


def test_a_world_rebuilt_from_its_rows_is_the_same(world):
    records = [
        (name, key, record) for name, rows in world.tables.items() for key, record in rows.items()
    ]
    records.sort(key=lambda row: (row[0], getattr(row[2], "created_at", ""), row[1]))

    writes: dict[str, dict[str, Any]] = {}
    for name, key, record in records:
        writes.setdefault(name, {})[key] = record

    empty = empty_world(world.name, world.seed)
    built = apply(empty, writes, commit=world.commit, at_ms=world.at_ms)

    assert list(stored_rows(built)) == list(stored_rows(world))
    assert dict(built.indexes.items()) == dict(world.indexes.items())
    assert built.next_due_ms == world.next_due_ms


def test_applying_no_writes_changes_only_the_commit_number(world):
    following = apply(world, {}, commit=9, at_ms=world.at_ms)

    assert following.commit == 9
    assert following.tables == world.tables


def test_a_deleted_operation_reacts_to_nothing():
    api = InProcess()
    api.add_outcome(fail={"phase": "verifying"}, while_={"plan": "free"})
    operation = api.apply_domains().json["id"]
    change = Change(api.world, api.world.at_ms)
    assert change.reacting == {operation}

    change.delete(OPERATIONS, operation)

    assert change.reacting == frozenset()
