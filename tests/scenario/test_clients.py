"""The clients of a story: those that give up, and those that come together."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.sessions import session_of
from tests.support.stories import (
    Verdict,
    differences_of,
    run_on,
    run_story,
    scenario_error,
    verdict_of,
)

Step = dict[str, Any]
DOMAINS: Step = {"call": "apply_project_domains", "key": "k"}
DISCOVERY = "GET /_emulator/idp/.well-known/openid-configuration"


# --- a client that gives up ----------------------------------------------------------------------


def test_a_request_is_carried_out_although_its_client_gives_up():
    story: list[Step] = [
        {**DOMAINS, "gives_up": True},
        {**DOMAINS, "expect": {"body": {"state": "queued"}}},
        {"log": {"call": "apply_project_domains", "replayed": True, "count": 1}},
    ]

    report = run_story(story)

    assert report["passed"]
    first_step = report["steps"][0]
    assert first_step["message"] == "the client gave up before the response was sent"
    assert [response["lost"] for response in first_step["responses"]] == ["gives_up"]


def test_the_log_says_that_a_client_gave_up_and_blames_no_fault():
    story: list[Step] = [
        {**DOMAINS, "gives_up": True},
        {"log": {"why": "/closed its side/", "lost": None, "fault": None, "count": 1}},
    ]

    assert verdict_of(story) == "green"


@pytest.mark.parametrize(
    ("assumption", "status"), [("refuse", 503), ("wait", 202)], ids=["refuse", "wait"]
)
def test_the_response_is_held_back_while_others_arrive(assumption: str, status: int):
    story: list[Step] = [
        {"assume": {"idempotency_in_flight": assumption}},
        {
            "together": [
                {**DOMAINS, "gives_up": True},
                {**DOMAINS, "times": 2, "expect": {"status": status}},
            ]
        },
    ]

    assert verdict_of(story) == "green"


def test_a_client_that_gives_up_waits_for_no_slow_response():
    report, engine = run_on(
        """
        faults: [{stalled_response: {world_pause: 1h}}]
        story: [{call: list_deployments, gives_up: true}]
        """
    )

    assert report["steps"][0]["waited_ms"] == 0
    assert engine.now_ms() == engine.world.at_ms


def test_a_client_that_gives_up_ends_its_connection():
    fault = {"abort": {"code": "rate_limited"}, "connection": "reused", "optional": True}
    story: list[Step] = [
        {"call": "list_deployments", "connection": "a"},
        {"call": "list_deployments", "connection": "b"},
        {"call": "list_deployments", "connection": "a", "gives_up": True},
        {"call": "list_deployments", "connection": "a"},
        {"call": "list_deployments", "connection": "b", "expect": {"code": "rate_limited"}},
    ]

    assert verdict_of(story, [fault]) == "green"


@pytest.mark.parametrize(
    ("keys", "mark", "words"),
    [
        ("expect: {status: 202}", "expect", "receives no response: remove expect"),
        ("save: {id: id}", "save", "receives no response: remove save"),
        ("tries: 3", "tries", "receives no response: remove tries"),
        ("collect: {ids: id}", "id}", "collect only `response`"),
    ],
)
def test_nothing_of_an_unseen_response_can_be_used(keys: str, mark: str, words: str):
    line = f"story: [{{call: apply_project_domains, gives_up: true, {keys}}}]"

    error = scenario_error(line)

    assert words in error.message
    assert (error.line, error.column) == (3, line.index(mark) + 1)


def test_a_step_without_a_request_cannot_give_up():
    assert (
        "gives_up is an option of call"
        in scenario_error("story: [{advance: 1s, gives_up: true}]").message
    )


def test_a_client_that_gave_up_is_recorded_as_such():
    report, engine = run_on(
        """
        story:
          - {call: apply_project_domains, key: k, gives_up: true}
          - {call: apply_project_domains, key: k, save: {operation: id}}
          - {poll: "${operation}"}
        """
    )
    assert report["passed"]

    text = record_session(session_of(engine)).text

    story = read_scenario(text, "recorded.yaml").source.data["story"]
    assert [step.get("gives_up") for step in story] == [True, None, None]
    assert "expect" not in story[0]


# --- clients that come together ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "verdict"), [(3, "green"), (2, "red")], ids=["three responses", "two responses"]
)
def test_pages_are_visited_together(count: int, verdict: Verdict):
    story: list[Step] = [
        {
            "together": [
                {"request": DISCOVERY, "times": 2, "collect": {"all": "response.status"}},
                {"call": "list_deployments", "collect": {"all": "response.status"}},
            ]
        },
        {"check": {"all": {"item_count": {"of": 200, "is": count}}}},
    ]

    assert verdict_of(story) == verdict


def test_a_page_is_as_late_as_its_fault_says_among_others():
    fault = {"latency": {"delay_ms": 300}, "call": "idp_discovery", "times": 1}
    pages = {"request": DISCOVERY, "times": 2}

    report = run_story([{"together": [pages, {"call": "list_deployments"}]}], [fault])

    [step] = report["steps"]
    assert step["message"] == "status 200, 300ms late, status 200, status 200"
    assert step["waited_ms"] == 300


def test_a_page_that_does_not_exist_fails_its_step():
    report = run_story([{"together": [{"request": "GET /_emulator/idp/x", "times": 2}]}])

    [(at, _, message)] = differences_of(report["steps"][0])
    assert (at, message) == ("together", "the identity provider has no GET /_emulator/idp/x")
