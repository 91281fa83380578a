"""Lifecycles: complete tables of transitions, which refuse every other transition."""

import pytest

from hosting_emulator.contract.assumptions import DATABASE_STATES, DEPLOYMENT_STATUSES
from hosting_emulator.contract.resources import STATES, TERMINAL
from hosting_emulator.world.lifecycles import (
    DATABASE,
    DEPLOYMENT,
    LIFECYCLES,
    OPERATION,
    STATE_WORDS,
)

BY_NAME = pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda lifecycle: lifecycle.name)


@BY_NAME
def test_every_state_can_be_reached_from_the_first(lifecycle):
    reached = set()
    waiting = [lifecycle.initial]
    while waiting:
        state = waiting.pop()
        if state not in reached:
            reached.add(state)
            waiting.extend(lifecycle.transitions[state])

    assert reached == set(lifecycle.transitions)


@BY_NAME
def test_a_lifecycle_allows_only_the_transitions_of_its_table(lifecycle):
    for current in lifecycle.transitions:
        for following in lifecycle.transitions:
            if lifecycle.may(current, following):
                assert lifecycle.move(current, following) == following
            else:
                with pytest.raises(ValueError, match=f"{current} cannot become {following}"):
                    lifecycle.move(current, following)


@BY_NAME
def test_no_state_follows_itself_and_final_states_lead_nowhere(lifecycle):
    for state, following in lifecycle.transitions.items():
        assert state not in following
        assert (state in lifecycle.finals) == (not following)


def test_states_are_those_of_the_contract_and_of_our_assumptions():
    assert tuple(OPERATION.transitions) == STATES
    assert set(TERMINAL) == OPERATION.finals
    assert set(DEPLOYMENT.transitions) == set(DEPLOYMENT_STATUSES)
    assert set(DATABASE.transitions) == set(DATABASE_STATES)


@pytest.mark.parametrize("state", OPERATION.transitions)
def test_every_operation_state_has_advice_and_every_final_state_an_ending(state: str):
    words = STATE_WORDS[state]

    assert words.advice
    assert bool(words.ended) == (state in OPERATION.finals)
