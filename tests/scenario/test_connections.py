"""The connections that the steps of a story name, and faults that match by them."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.sessions import session_of
from hosting_emulator.scenario.story import check_text
from tests.support.stories import run, run_text, scenario_error, text_of

FAULT = """
faults:
  - connection_reset:
    connection: reused
    times: 1
"""


def step(connection: str = "", expect: str = "{status: 200}", action: str = "") -> str:
    """Return a step of a story that sends one request on a connection."""
    lines = [action or "call: get_dns_authorization", f"expect: {expect}"]
    if connection:
        lines.append(f"connection: {connection}")
    return "  - " + "\n    ".join(lines) + "\n"


def passed(*steps: str, faults: str = FAULT) -> bool:
    """Tell whether the story of these steps passes."""
    return bool(run(faults + "story:\n" + "".join(steps))["passed"])


LOST = "{lost: connection_reset}"


def test_requests_with_the_same_name_share_one_connection():
    assert passed(step("a"), step("b"), step("a", LOST))


def test_a_lost_response_ends_its_connection_and_the_name_then_opens_another():
    faults = FAULT.replace("times: 1", "times: 2")

    assert passed(step("a"), step("a", LOST), step("a"), step("a", LOST), faults=faults)


def test_a_recorded_story_has_the_connections_of_the_story():
    text = text_of(FAULT + "story:\n" + step("a") + step("b") + step("a", LOST))
    _, engine = run_text(text, "small.yaml")

    recorded = read_scenario(record_session(session_of(engine)).text, "recorded.yaml")

    connections = [step.connection for step in recorded.part.story]
    assert connections == ["connection-1", "connection-2", "connection-1"]


def test_a_request_without_a_name_has_no_connection():
    assert passed(step("a"), step(), step(), step("a", LOST))


def test_a_request_to_the_api_by_its_path_has_the_connection_of_its_step():
    assert passed(step("a"), step("a", LOST, "request: GET /v1/projects/x/edge-dns"))


def test_a_fault_can_meet_new_connections_only():
    faults = FAULT.replace("reused", "new").replace("times: 1", "times: 2")

    assert passed(step("a", LOST), step("a", LOST), step(), faults=faults)
    assert not passed(step("a", LOST), step("a"), step("a"), faults=faults)


@pytest.mark.parametrize(
    ("rest", "position", "words"),
    [
        (
            FAULT + "story:\n" + step(),
            (5, 17),
            "no request can match, because no step in the story names its connection",
        ),
        (
            FAULT.replace("    times", "    call: idp_token\n    times") + "story:\n" + step("a"),
            (5, 17),
            "in a story, requests to the identity provider have no connection",
        ),
        (
            "story:\n" + step("a", "{html: true}", "request: GET /_emulator/docs"),
            (6, 17),
            "in a story, only requests to the API have a connection",
        ),
        (
            "story:\n  - together:\n"
            "    - {call: get_dns_authorization, connection: a}\n"
            "    - {call: list_deployments, connection: a}\n",
            (6, 44),
            "need different connections",
        ),
        (
            "story:\n  - together:\n"
            "    - {call: get_dns_authorization, connection: a, times: 2}\n"
            "    - {call: list_deployments}\n",
            (5, 49),
            "carries one request at a time",
        ),
        ("story:\n  - {advance: 1s, connection: a}\n", (4, 19), "connection"),
    ],
)
def test_a_connection_that_no_request_can_have_is_refused_with_the_reason(
    rest: str, position: tuple[int, int], words: str
):
    error = scenario_error(rest)

    assert (error.line, error.column) == position
    assert words in str(error)


def test_each_fault_by_connection_is_refused_where_it_is_written():
    rest = f"""
timeline:
  - after_calls: 1
    fault: {{timeout: , connection: new}}
story:
  - fault: {{timeout: , connection: reused}}
{step()}"""

    assert str(scenario_error(rest)).count("names its connection") == 2


def test_a_scenario_without_a_story_can_match_by_the_connections_of_clients():
    report: dict[str, Any] = check_text(text_of(FAULT), "small.yaml")

    assert report["steps"] == []
