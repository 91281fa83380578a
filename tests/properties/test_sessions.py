"""A session of a hundred random things becomes a scenario whose story passes; `torture` walks on."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario.session import past_of, record_session
from hosting_emulator.scenario.story import check_text
from tests.properties.sessions import RandomSession
from tests.sampling import sampled

MODES = ("frozen", "real", "skip", "scaled")


@pytest.mark.parametrize("number", sampled(range(20), 4))
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
    assert not recorded.left_out
    assert recorded.text.count(" expect:") >= asked > 20
    secrets = [*session.keys, *(url.partition("ticket=")[2] for url in session.tickets)]
    assert not [secret for secret in secrets if secret in recorded.text]


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
