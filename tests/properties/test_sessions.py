"""A session of a hundred random things becomes a scenario whose story passes; `torture` walks on."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.session import PastEvent, past_of, record_session
from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.scenario.story import check_text
from hosting_emulator_lab.scenario_shrinking import shrink_scenario
from tests.properties.sessions import RandomSession
from tests.support.sampling import rotating

MODES = ("frozen", "real", "skip", "scaled")


@pytest.mark.parametrize("number", rotating(range(20), 3))
def test_what_was_done_at_random_is_a_scenario_that_passes(number: int) -> None:
    # given calls, interventions, faults, outcomes, assumptions and moves of the clock
    session = RandomSession(f"walk-{number}", MODES[number % 4])
    session.walk(100)

    # when they are written as a scenario
    past = past_of(session.engine)
    recorded = record_session(past)

    # then its story passes, has each of them, and no secret
    report = check_text(recorded.text, "recorded.yaml")
    asked = sum(one.entry is not None for one in past.happened)
    assert report["passed"]
    # A story cannot rewind: it may leave out a request that changed nothing, and whose use of a
    # fault was rewound.
    uncounted = {
        f"{one.title}: what it counted was rewound" for one in past.happened if one.is_uncounted
    }
    assert {*recorded.left_out} <= uncounted
    assert recorded.text.count(" expect:") >= asked - len(recorded.left_out) > 20
    secrets = [*session.keys, *(url.partition("ticket=")[2] for url in session.tickets)]
    assert not [secret for secret in secrets if secret in recorded.text]


@pytest.mark.parametrize("number", rotating(range(20), 1))
def test_any_span_of_what_was_done_is_a_scenario_that_passes(number: int) -> None:
    session = RandomSession(f"span-{number}", MODES[number % 4])
    session.walk(100)
    past, draw = past_of(session.engine), session.draw

    for _ in range(3):
        first, last = sorted(draw.sample(range(len(past.happened)), 2))
        span = [_named(past.happened[place], draw) for place in (first, last)]
        recorded = record_session(past, "span", *span)

        assert check_text(recorded.text, "span.yaml")["passed"], span


def _named(one: PastEvent, draw: Random) -> str:
    by_number = one.entry is not None and draw.random() < 0.7
    return str(one.entry.n) if one.entry and by_number else f"commit:{one.last}"


@pytest.mark.parametrize("number", rotating(range(20), 1))
def test_what_is_shrunk_to_the_essence_is_still_answered_so(number: int) -> None:
    # given a session with a refusal that something before it has led to
    session = RandomSession(f"walk-{number}", MODES[number % 4])
    session.walk(100)
    past = past_of(session.engine)
    whole = read_scenario(record_session(past).text, "recorded.yaml")
    steps = [step for step in whole.source.data["story"] if step.get("expect", {}).get("code")]
    told = steps[-1]["expect"]
    keeps = f"n={whole.source.data['story'].index(steps[-1]) + 1}"

    # when it is shrunk
    found = shrink_scenario(whole, keeps)

    # then few steps are left, the story passes, and ends with that refusal; no step can go
    document = read_scenario(found.text, "small.yaml").source.data
    story = document["story"]
    assert check_text(found.text, "small.yaml")["passed"]
    assert story[-1]["expect"] == told
    assert found.steps <= found.of // 3
    for place in range(len(story) - 1):
        without = {**document, "story": story[:place] + story[place + 1 :]}
        assert not _passes(without), story[place]


def _passes(document: dict[str, Any]) -> bool:
    try:
        return bool(check_text(json.dumps(document), "small.yaml")["passed"])
    except ScenarioError:
        return False


@pytest.mark.torture
def test_a_thousand_random_sessions_are_scenarios_that_pass() -> None:
    refused = []
    for number in range(1000):
        session = RandomSession(f"long-{number}", MODES[number % 4])
        session.walk(100)
        try:
            recorded = record_session(past_of(session.engine))
        except ValueError as error:
            refused.append(f"{number}: {error}")
            continue
        assert check_text(recorded.text, "recorded.yaml")["passed"], number
    assert len(refused) < 10, refused
