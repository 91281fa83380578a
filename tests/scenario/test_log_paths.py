"""A `log` step can name only a path that some request in the story can have."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario.errors import ScenarioError
from tests.support.stories import run

DEPLOYMENTS = "/v1/projects/*/deployments"


def is_refused(step: str, log: str, rest: str = "") -> bool:
    """Return whether a story of a step and a `log` step is refused because no path can match."""
    try:
        run(f"{rest}\nstory:\n  - {step}\n  - {{log: {{{log}, count: 0}}}}\n")
    except ScenarioError as error:
        return "no request can match, because no call has the path" in error.message
    return False


@pytest.mark.parametrize(
    ("step", "possible", "impossible"),
    [
        ("{note: x}", DEPLOYMENTS, "/v1/projects/*/deploys"),
        ("{note: x}", "/v1/operations/*", "/x"),
        ("{request: GET /a/b?c=d, expect: {status: 404}}", "/a/b", "/a"),
        ("{request: GET /a/b, expect: {status: 404}}", "/a/*", "/a/b/c"),
        ("{request: 'GET /a/${project.shop}/b', expect: {status: 404}}", "/a/x/b", "/a/x/c"),
        ("{together: [{request: GET /a}, {request: GET /b}]}", "/b", "/c"),
        ("{request: 'GET https://api.example/a'}", "/a", "/api.example/a"),
    ],
)
def test_a_log_step_names_a_path_of_a_call_or_of_a_request(
    step: str, possible: str, impossible: str
) -> None:
    assert not is_refused(step, f"path: {possible}")
    assert is_refused(step, f"path: '{impossible}'")
    assert is_refused(step, f"path: [{possible}, '{impossible}']")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET ${project.shop}",
        "GET https://api.example",
        "GET /a/{b/${project.shop}",
        "GET /a/b}/${project.shop}",
    ],
)
def test_a_request_whose_path_is_not_known_can_have_any_path(request_line: str) -> None:
    assert not is_refused(f"{{request: '{request_line}'}}", "path: /anything")


@pytest.mark.parametrize("call", ["none", "null"])
def test_a_log_step_about_requests_that_match_no_call_can_name_any_path(call: str) -> None:
    assert not is_refused("{note: x}", f"call: {call}, path: /x")


def test_only_a_redemption_can_have_a_path_outside_the_api() -> None:
    step = "{redeem: 'https://dev.example/x'}"

    assert not is_refused(step, "path: /x")
    assert is_refused(step, "path: /v1/x")


def test_an_operation_can_have_each_path_that_the_scenario_assumes() -> None:
    step = "{assume: {operation_path: '/v1/jobs/{operation_id}'}}"
    rest = "assumptions: {operation_path: '/v1/tasks/{operation_id}'}"

    assert not is_refused(step, "path: /v1/jobs/*", rest)
    assert not is_refused(step, "path: /v1/tasks/*", rest)
    assert is_refused(step, "path: /v1/operations/*", rest)
