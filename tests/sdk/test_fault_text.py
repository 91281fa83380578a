"""The words for a fault are those with which a user would arm it."""

from __future__ import annotations

import msgspec
import pytest

from hosting_emulator.messages import FaultState, OutcomeState
from hosting_emulator.sdk.fault_text import fault_words


def test_options_are_shown_as_on_the_command_line() -> None:
    fault = {"respond": {"status": 200, "content": {"short": True, "list": [None, "x"]}}}

    assert fault_words(fault).effect == (
        'respond status=200 content={"short": true, "list": [null, "x"]}'
    )
    assert fault_words({"fail": {"retryable": True}}).effect == "fail retryable=true"


def test_matches_and_conditions_contain_no_notation_of_python() -> None:
    words = fault_words(
        {
            "timeout": {},
            "header": {"X-A": "1"},
            "body": {"enabled": {"one_of": [True, None]}, "shown": False},
            "pauses": ["10m", "20m"],
            "optional": True,
        }
    )

    assert words.matches == 'header=X-A:1 body=enabled:{"one_of": [true, null]},shown:false'
    assert words.conditions == "pauses=10m,20m optional=true"


@pytest.mark.parametrize("message", [FaultState, OutcomeState])
def test_no_member_of_the_state_is_shown_as_an_effect(message: type[msgspec.Struct]) -> None:
    fault = {"timeout": {}, **dict.fromkeys(message.__struct_fields__, True)}

    assert fault_words(fault).effect == "timeout"


def test_a_member_from_a_newer_emulator_is_an_effect_only_if_it_has_options() -> None:
    fault = {"new_kind": {"size": 2}, "new_flag": True, "new_text": "x", "new_list": [{}]}

    assert fault_words(fault).effect == "new_kind size=2"
