"""Behavior is the exit code and the requests. What differs between unaltered runs does not count."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.client_behavior import (
    ClientBehavior,
    behavior_difference,
    effect_of,
    sent_request_text,
)


def behavior(*requests: str, code: int = 0, lines: tuple[str, ...] = ("done",)) -> ClientBehavior:
    """Return what a client did that sent these requests."""
    return ClientBehavior(code, hung=False, requests=requests, lines=lines)


USUAL = behavior("GET /a", "GET /b")


@pytest.mark.parametrize(
    ("altered", "effect"),
    [
        (USUAL, "ignores"),
        (behavior("GET /b", "GET /a"), "ignores"),
        (behavior("GET /a"), "depends"),
        (behavior("GET /a", "GET /b", "GET /b"), "depends"),
        (behavior("GET /a", "GET /b", code=1), "depends"),
        (behavior("GET /a", "GET /b", lines=("done: None",)), "shows"),
    ],
)
def test_an_effect_is_the_strongest_difference(altered: ClientBehavior, effect: str) -> None:
    assert effect_of(altered, USUAL, USUAL) == effect


def test_the_order_of_printed_lines_counts_if_it_is_the_same_in_both_unaltered_runs() -> None:
    usual = behavior(lines=("first", "second"))
    reversed_lines = behavior(lines=("second", "first"))
    assert effect_of(reversed_lines, usual, usual) == "shows"
    assert effect_of(reversed_lines, usual, reversed_lines) == "ignores"


def test_a_difference_between_the_unaltered_runs_does_not_count() -> None:
    first = behavior("POST /keys ci-17", lines=("took 3 ms",))
    second = behavior("POST /keys ci-18", lines=("took 4 ms",))
    same = behavior("POST /keys ci-19", lines=("took 5 ms",))
    assert effect_of(same, first, second) == "ignores"
    other = behavior("POST /keys None", lines=("took 5 ms",))
    assert effect_of(other, first, second) == "depends"
    shown = behavior("POST /keys ci-19", lines=("took None",))
    assert effect_of(shown, first, second) == "shows"


def test_output_that_is_unknown_shows_nothing() -> None:
    silent = ClientBehavior(0, hung=False, requests=USUAL.requests)
    other = behavior(*USUAL.requests, lines=("done: None",))
    assert effect_of(other, silent, USUAL) == "ignores"
    assert effect_of(other, USUAL, silent) == "ignores"
    assert effect_of(silent, USUAL, USUAL) == "ignores"


def test_the_difference_names_the_exit_code_or_the_first_request() -> None:
    assert behavior_difference(behavior(code=1), USUAL) == "exit code 1"
    assert behavior_difference(behavior("GET /a"), USUAL) == "it does not send GET /b"
    more = behavior("GET /a", "GET /b", "GET /c")
    assert behavior_difference(more, USUAL) == "it also sends GET /c"
    stuck = ClientBehavior(-9, hung=True, requests=())
    assert behavior_difference(stuck, USUAL) == "it did not end in time"
    shown = behavior("GET /b", "GET /a", lines=("done: None",))
    assert behavior_difference(shown, USUAL) == "its output differs"


def test_equal_requests_have_the_same_text_however_they_are_written() -> None:
    first = sent_request_text("PUT", "/a?x=1&y=2", '{"b": 1, "a": 2}', "K")
    second = sent_request_text("PUT", "/a?y=2&x=1", '{"a":2,"b":1}', "K")
    assert first == second == 'PUT /a?x=1&y=2 as K {"a": 2, "b": 1}'


def test_a_request_body_that_is_not_json_is_part_of_the_text_as_it_is() -> None:
    text = sent_request_text("PUT", "/a", "b=1&a=2", "")
    assert text == "PUT /a b=1&a=2"
