"""The tables of a step's keys name every key that a step can have."""

from hosting_emulator.scenario.document import ActionPart, StepPart
from hosting_emulator.scenario.step_keys import ACTIONS, OPTION_ACTIONS

#: Keys that belong to every action.
COMMON_KEYS = {"note", "times"}


def test_every_action_is_in_the_table_of_actions():
    assert set(ACTIONS) == set(ActionPart.__struct_encode_fields__) - COMMON_KEYS


def test_every_other_key_says_to_which_actions_it_belongs():
    keys = set(StepPart.__struct_encode_fields__) - set(ACTIONS)

    assert set(OPTION_ACTIONS) == keys - COMMON_KEYS


def test_keys_belong_only_to_actions_that_exist():
    for key, actions in OPTION_ACTIONS.items():
        assert set(actions) <= set(ACTIONS), key
