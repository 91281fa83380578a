"""Each kind of fault and outcome, in each phase and under each clock, keeps its counts consistent.

A fork, a restart and a rewind continue the counts, and a recording repeats them. The ordinary run tries
some combinations, and `make torture` tries all.
"""

from __future__ import annotations

import pytest

from tests.support.recorded_sessions import SessionPast
from tests.support.sampling import rotating
from tests.support.scenario_files import check_scenario
from tests.support.triggered_worlds import Combination, TriggeredWorld, combinations

COMBINATIONS = combinations()
each_combination = pytest.mark.parametrize("combination", rotating(COMBINATIONS, 25), ids=str)


def test_there_are_at_least_four_hundred_combinations_with_the_four_ways_to_continue():
    assert len(COMBINATIONS) * 4 >= 400


@each_combination
def test_a_fork_continues_the_counts_and_leaves_its_original_alone(combination: Combination):
    original = TriggeredWorld.with_trigger(combination)
    original.send()
    original.send()

    fork = original.fork()
    counts = original.counts
    assert (fork.counts, fork.trigger.considered) == (counts, 0)
    statuses = [fork.send() for _ in range(3)]
    assert original.counts == counts

    assert [original.send() for _ in range(3)] == statuses
    assert (original.counts, original.state) == (fork.counts, fork.state)
    assert [*original.contradictions(), *fork.contradictions()] == []
    assert combination.noun == "outcome" or original.logged_hits == original.trigger.hits


@each_combination
def test_a_restart_continues_the_counts(combination: Combination):
    original = TriggeredWorld.with_trigger(combination)
    original.send()
    original.send()

    restarted = original.restart()

    assert (restarted.counts, restarted.trigger.considered) == (original.counts, 0)
    assert [restarted.send() for _ in range(3)] == [original.send() for _ in range(3)]
    assert (restarted.counts, restarted.state) == (original.counts, original.state)
    assert restarted.contradictions() == []


@each_combination
def test_a_rewind_takes_the_counts_back_except_how_often_it_was_considered(
    combination: Combination,
):
    world = TriggeredWorld.with_trigger(combination)
    world.send()
    mark = world.mark()
    counts = world.counts
    state = world.state
    statuses = [world.send() for _ in range(3)]
    considered = world.trigger.considered

    world.rewind(mark)

    assert world.state == state
    assert (world.counts, world.trigger.considered) == (counts, considered)
    assert [world.send() for _ in range(3)] == statuses
    assert world.contradictions() == []


@pytest.mark.parametrize(
    "combination", rotating([row for row in COMBINATIONS if row.can_be_recorded], 25), ids=str
)
def test_a_recording_repeats_the_counts(combination: Combination):
    world = TriggeredWorld.with_trigger(combination)
    for _ in range(4):
        world.send()

    recording = SessionPast(world.api).record()
    report = check_scenario(recording.text, "recorded.yaml")

    assert report["passed"], report
    (entry,) = report["entries"]
    trigger = world.trigger
    counts = (trigger.considered, trigger.seen, trigger.hits)
    assert (entry.considered, entry.seen, entry.hits) == counts
