"""What the library reaches, counted from real runs: every code, every state, every transition."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.interventions import INTERVENTIONS
from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.world import lifecycles
from hosting_emulator_scenarios import FOLDER
from tests.golden.coverage_engine import WatchedEngine, watch

FILES = sorted(FOLDER.glob("*.yaml"))
COUNTED = [
    lifecycles.OPERATION,
    lifecycles.DNS_AUTHORIZATION,
    lifecycles.TICKET,
    lifecycles.API_KEY,
    lifecycles.DEPLOYMENT,
    lifecycles.RECONCILIATION,
]
every_lifecycle = pytest.mark.parametrize("lifecycle", COUNTED, ids=lambda found: found.name)


@pytest.fixture(scope="module")
def runs() -> list[WatchedEngine]:
    return [watch(path) for path in FILES]


def test_each_of_the_57_codes_is_answered(runs):
    answered = set().union(*(run.codes for run in runs))

    assert len(PROBLEMS) == 57
    assert set(PROBLEMS) - answered == set()


def test_each_code_that_calls_give_by_themselves_is_answered_with_no_fault_armed(runs):
    by_themselves = {code for code, problem in PROBLEMS.items() if not problem.by_fault_only}
    answered = set().union(*(run.codes_without_faults for run in runs))

    assert by_themselves - answered == set()


def test_most_codes_that_can_come_from_a_state_of_the_world_do(runs):
    """The others are of things that the eight calls know nothing of, as `problems.md` says of each."""
    answered = set().union(*(run.codes_by_state for run in runs))

    assert len(answered) >= 25, sorted(set(PROBLEMS) - answered)


@every_lifecycle
def test_each_state_is_reached(runs, lifecycle):
    reached = set().union(*(run.states[lifecycle.name] for run in runs))

    assert set(lifecycle.transitions) - reached == set()


@every_lifecycle
def test_each_transition_is_made_between_two_commits(runs, lifecycle):
    made = set().union(*(run.moves[lifecycle.name] for run in runs))
    possible = {(a, b) for a, following in lifecycle.transitions.items() for b in following}

    assert possible - made == set()


@pytest.mark.parametrize(
    "lifecycle",
    [
        lifecycles.DNS_AUTHORIZATION,
        lifecycles.TICKET,
        lifecycles.API_KEY,
        lifecycles.RECONCILIATION,
    ],
    ids=lambda found: found.name,
)
def test_no_other_transition_is_made(runs, lifecycle):
    # Operations and deployments may pass several states in one commit; these never do.
    made = set().union(*(run.moves[lifecycle.name] for run in runs))

    assert {move for move in made if not lifecycle.may(*move)} == set()


def test_each_intervention_and_each_kind_of_fault_is_in_a_story():
    used: set[str] = set()
    for path in FILES:
        part = read_scenario(path.read_text("utf-8"), path.name).part
        turns = [*part.faults]
        turns += [turn.fault or turn.intervene or {} for turn in part.timeline]
        turns += [step.fault or step.intervene or {} for step in part.story]
        used |= {word for turn in turns for word in turn}

    assert {*INTERVENTIONS, *fault_kinds()} - used == set()
