"""A random session of a hundred steps becomes a scenario whose story passes.

The ordinary run takes a few sessions, and `make torture` takes many.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.properties.sessions import RandomSession
from tests.support.recorded_sessions import PastEvent, SessionPast, shrink
from tests.support.sampling import rotating
from tests.support.scenario_files import check_scenario, read_text, text_passes

MODES = ("frozen", "real", "skip", "scaled")


def session_of(name: str, number: int) -> RandomSession:
    """Return a session of a hundred steps: the clock's mode depends on the number."""
    session = RandomSession(f"{name}-{number}", MODES[number % 4])
    session.walk(100)
    return session


@pytest.mark.parametrize("number", rotating(range(20), 3))
def test_a_recorded_session_is_a_scenario_that_passes(number: int) -> None:
    # given calls, interventions, faults, outcomes, assumptions and moves of the clock
    session = session_of("walk", number)

    # when they are recorded as a scenario
    past = SessionPast(session.api)
    recording = past.record()

    # then its story passes, has each request and contains no secret
    assert check_scenario(recording.text, "recorded.yaml")["passed"]
    # A story cannot rewind: it may leave out a request that changed nothing, and whose use of a
    # fault was rewound.
    uncounted = {
        f"{event.title}: the world was rewound and no longer counts this request"
        for event in past.events
        if event.is_uncounted
    }
    assert {*recording.left_out} <= uncounted
    request_count = sum(event.request is not None for event in past.events)
    recorded_count = request_count - len(recording.left_out)
    assert recording.text.count(" expect:") >= recorded_count > 20
    secrets = [*session.keys, *(url.partition("ticket=")[2] for url in session.tickets)]
    assert not [secret for secret in secrets if secret in recording.text]


@pytest.mark.parametrize("number", rotating(range(20), 1))
def test_any_span_of_a_session_is_a_scenario_that_passes(number: int) -> None:
    session = session_of("span", number)
    past = SessionPast(session.api)

    for _ in range(3):
        start, end = sorted(session.draw.sample(range(len(past.events)), 2))
        first = limit_of(past.events[start], session.draw)
        last = limit_of(past.events[end], session.draw)
        recording = past.record("span", first, last)

        assert check_scenario(recording.text, "span.yaml")["passed"], (first, last)


def limit_of(event: PastEvent, draw: Random) -> str:
    """Name an event by its commit or, if it is a request, mostly by its number."""
    if event.request is not None and draw.random() < 0.7:
        return event.request
    return event.commit


@pytest.mark.parametrize("number", rotating(range(20), 1))
def test_no_step_of_a_shrunk_session_can_be_removed_and_its_last_response_stays(
    number: int,
) -> None:
    # given a session with a refusal that earlier steps have led to
    session = session_of("walk", number)
    whole_text = SessionPast(session.api).record().text
    whole_story = read_text(whole_text, "recorded.yaml").document["story"]
    refusals = [step for step in whole_story if step.get("expect", {}).get("code")]
    refusal = refusals[-1]

    # when the scenario is shrunk to it
    shrunk = shrink(whole_text, f"n={whole_story.index(refusal) + 1}")

    # then few steps are left, the story passes and ends with that refusal, and each step is needed
    assert text_passes(shrunk.text, "small.yaml")
    assert shrunk.step_count <= shrunk.original_step_count // 3
    document = read_text(shrunk.text, "small.yaml").document
    story = document["story"]
    assert story[-1]["expect"] == refusal["expect"]
    for index in range(len(story) - 1):
        shorter_story = story[:index] + story[index + 1 :]
        shorter_text = json.dumps({**document, "story": shorter_story})
        assert not text_passes(shorter_text, "small.yaml"), story[index]


@pytest.mark.torture
def test_a_thousand_recorded_sessions_are_scenarios_that_pass() -> None:
    refusals = []
    for number in range(1000):
        session = session_of("long", number)
        try:
            recording = SessionPast(session.api).record()
        except ValueError as error:
            refusals.append(f"{number}: {error}")
            continue
        assert check_scenario(recording.text, "recorded.yaml")["passed"], number
    assert len(refusals) < 10, refusals
