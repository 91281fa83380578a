"""The words for a fault are those with which a user would arm it."""

from __future__ import annotations

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
