"""What the scenario library reaches, counted from real runs: codes, states and transitions."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from tests.support.fault_kinds import kinds_of_faults
from tests.support.product_tables import intervention_words, lifecycles
from tests.support.scenario_files import library_files, read_file
from tests.support.story_coverage import WATCHED_LIFECYCLES, StoryCoverage, coverage_of

LIFECYCLES = lifecycles()
each_lifecycle = pytest.mark.parametrize("lifecycle", WATCHED_LIFECYCLES)


@pytest.fixture(scope="module")
def stories() -> list[StoryCoverage]:
    return [coverage_of(path) for path in library_files()]


def test_the_library_shows_each_of_the_57_problem_codes(stories: list[StoryCoverage]) -> None:
    shown_codes = set().union(*(story.codes for story in stories))

    assert len(PROBLEMS) == 57
    assert set(PROBLEMS) - shown_codes == set()


def test_the_library_shows_each_code_that_needs_no_fault_without_a_fault(
    stories: list[StoryCoverage],
) -> None:
    codes = {code for code, problem in PROBLEMS.items() if not problem.by_fault_only}
    shown_codes = set().union(*(story.codes_without_faults for story in stories))

    assert codes - shown_codes == set()


def test_at_least_25_codes_of_the_library_follow_from_the_state_of_a_world(
    stories: list[StoryCoverage],
) -> None:
    """The other codes are about things that the eight calls do not know, as `problem_table.py` says."""
    shown_codes = set().union(*(story.codes_by_state for story in stories))

    assert len(shown_codes) >= 25, sorted(set(PROBLEMS) - shown_codes)


@each_lifecycle
def test_the_library_reaches_each_state_of_a_lifecycle(
    stories: list[StoryCoverage], lifecycle: str
) -> None:
    states = set().union(*(story.states[lifecycle] for story in stories))

    assert set(LIFECYCLES[lifecycle]) - states == set()


@each_lifecycle
def test_the_library_makes_each_transition_of_a_lifecycle_between_two_commits(
    stories: list[StoryCoverage], lifecycle: str
) -> None:
    transitions = set().union(*(story.transitions[lifecycle] for story in stories))

    assert _possible_transitions(lifecycle) - transitions == set()


# Operations and deployments are not here: they may pass several states in one commit.
@pytest.mark.parametrize(
    "lifecycle", ["DNS authorization", "dev access ticket", "API key", "reconciliation"]
)
def test_the_library_makes_no_transition_that_is_not_in_its_table(
    stories: list[StoryCoverage], lifecycle: str
) -> None:
    transitions = set().union(*(story.transitions[lifecycle] for story in stories))

    assert transitions - _possible_transitions(lifecycle) == set()


def _possible_transitions(lifecycle: str) -> set[tuple[str, str]]:
    return {
        (state, next_state)
        for state, next_states in LIFECYCLES[lifecycle].items()
        for next_state in next_states
    }


#: A story makes no TLS handshake.
NOT_IN_STORIES = {"bad_certificate"}


def test_the_library_uses_each_intervention_and_each_kind_of_fault() -> None:
    used_words: set[str] = set()
    for path in library_files():
        document = read_file(path).document
        for fault in document.get("faults", []):
            used_words |= fault.keys()
        for entry in [*document.get("timeline", []), *document["story"]]:
            used_words |= entry.get("fault", {}).keys()
            used_words |= entry.get("intervene", {}).keys()

    words = {*intervention_words(), *kinds_of_faults()} - NOT_IN_STORIES
    assert words - used_words == set(), "show it in a scenario of the library, in `scenarios/`"
