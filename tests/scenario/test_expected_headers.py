"""A misspelled header in an expectation is refused with the header that was probably meant."""

from __future__ import annotations

import pytest

from tests.support.stories import scenario_error

#: Each header that a response of the emulator can have, misspelled.
MISSPELLED = {
    "Alow": "Allow",
    "Cache-Controll": "Cache-Control",
    "Content-Typ": "Content-Type",
    "Datee": "Date",
    "Locatoin": "Location",
    "Retry_After": "Retry-After",
    "Set-Cookies": "Set-Cookie",
    "WW-Authenticate": "WWW-Authenticate",
    "X-Request": "X-Request-Id",
}


@pytest.mark.parametrize(("name", "header"), MISSPELLED.items())
def test_a_misspelled_header_gets_a_suggestion(name: str, header: str) -> None:
    error = scenario_error(f"""
        story:
          - call: list_deployments
            expect: {{headers: {{{name}: "*"}}}}
    """)

    assert f"did you mean {header}?" in str(error)


@pytest.mark.parametrize(
    "fault", ["respond: {headers: {X-Color: red}}", "alter: {headers: {X-Color: red}}"]
)
def test_a_misspelled_header_that_a_fault_sets_gets_a_suggestion(fault: str) -> None:
    error = scenario_error(f"""
        faults: [{{{fault}}}]
        story:
          - call: list_deployments
            expect: {{headers: {{X-Colour: red}}}}
    """)

    assert "did you mean X-Color?" in error.message


def test_an_expected_state_of_an_operation_is_checked_at_the_operation_path_of_the_scenario() -> (
    None
):
    text = """
    assumptions: {operation_path: "/v1/ops/{operation_id}"}
    story:
      - request: GET /v1/ops/01ZZZZZZZZZZZZZZZZZZZZZZZZ
        expect: {status: 200, body: {state: done}}
    """
    assert "there is no state 'done'" in scenario_error(text).message
