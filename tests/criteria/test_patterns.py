"""Patterns that users write: a verdict depends only on pattern and text, not on other threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest

from hosting_emulator.criteria import patterns
from hosting_emulator.criteria.patterns import PatternError
from tests.support.stories import run

#: Long enough for the pattern engine to look several times whether it must stop.
VALUE = "ab" * 300 + "end"
PATTERN = "(?:ab|ba)+c|end$"


@contextmanager
def busy_threads() -> Iterator[None]:
    """Keep threads busy that compete with the caller for the interpreter."""
    stopped = Event()

    def work() -> None:
        while not stopped.is_set():
            sum(range(10_000))

    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(work)
        try:
            yield
        finally:
            stopped.set()


def test_a_pattern_of_a_story_matches_beside_busy_threads():
    content = json.dumps({"value": VALUE})
    respond = {"status": 200, "content_type": "application/json", "content": content}
    fault = {"respond": respond, "call": "list_deployments"}
    expect = {"status": 200, "body": {"value": f"/{PATTERN}/"}}
    story = [{"call": "list_deployments", "expect": expect}]

    with busy_threads():
        report = run(f"faults: {json.dumps([fault])}\nstory: {json.dumps(story)}\n")

    assert report["passed"], report["steps"][-1]


class InterruptedSearch:
    """An engine whose first searches are interrupted before they used any time of their own."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.timeouts: list[float] = []

    def search(self, text: str, timeout: float, concurrent: bool) -> Any:
        assert not concurrent
        self.timeouts.append(timeout)
        if self.left:
            self.left -= 1
            raise TimeoutError
        return None


def test_a_search_that_other_threads_interrupted_is_repeated_with_more_time():
    engine = InterruptedSearch(3)

    assert patterns.Expression("x", engine).search("text") is None
    assert engine.timeouts == [0.05, 0.1, 0.2, 0.4]


def test_a_search_that_itself_takes_long_ends_with_an_error():
    with pytest.raises(PatternError) as refused:
        patterns.compile_pattern(r"^(\w+\s?)*$").search("a" * 50_000 + "!")

    assert str(refused.value) == (
        r"the regular expression '^(\\w+\\s?)*$' takes more than 50 ms on a string of 50001 "
        "characters: rewrite the expression without a repetition inside a repetition"
    )


@pytest.mark.parametrize(("length", "is_cut"), [(80, False), (81, True)])
def test_an_invalid_pattern_is_quoted_by_its_first_80_characters(length: int, is_cut: bool):
    pattern = "(" + "x" * (length - 1)

    with pytest.raises(PatternError) as refused:
        patterns.compile_pattern(pattern)

    quote = f"{pattern[:79]}…" if is_cut else pattern
    assert str(refused.value).startswith(f"{quote!r} is not a valid regular expression: ")


@pytest.mark.parametrize(
    ("accepted", "refused", "message"),
    [
        ("x" * 1000, "x" * 1001, "{} has 1001 characters: at most 1000 are allowed"),
        ("(" * 8 + "x" + ")" * 8, "(" * 9 + "x" + ")" * 9, "{} has more than 8 nested groups"),
        ("(()())" * 4 + "()" * 20, "(" * 9 + ")" * 9, "{} has more than 8 nested groups"),
        ("(?:x{100}){10}", "(?:x{100}){11}", "{} is greater than 1000"),
        ("x{0}y{2,500}", "x{0}y{3,}z{500}", "{} is greater than 1000"),
    ],
)
def test_a_pattern_within_the_limits_is_compiled_and_one_beyond_them_is_refused(
    accepted: str, refused: str, message: str
):
    patterns.compile_pattern(accepted)

    with pytest.raises(PatternError) as refusal:
        patterns.compile_pattern(refused)

    quote = repr(refused if len(refused) <= 80 else f"{refused[:79]}…")
    assert str(refusal.value).endswith(f"the regular expression {message.format(quote)}")
