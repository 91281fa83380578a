"""A name stands for one assumption, which is either fixed or can be set."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.assumption_table import affects_call
from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.fixed_assumptions import FIXED


def test_no_assumption_is_both_fixed_and_settable() -> None:
    both = FIXED.keys() & set(Assumptions.__struct_fields__)

    assert both == set(), "delete the row in contract/fixed_assumptions.py, or choose another name"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "nothing",
            1,
            "there is no assumption 'nothing'; `hosting-emulator contract assumptions` ",
        ),
        ("rate_limits", "off", "there is no assumption 'rate_limits'; did you mean rate_limit?"),
        ("read_status", 201, "read_status cannot be set: HTTP does not define any other status "),
        (
            "rate_limit",
            "rarely",
            "assumption rate_limit cannot be 'rarely': 'rarely' is not a rate",
        ),
        (
            "accepted_status",
            "x",
            "assumption accepted_status cannot be 'x': it must be one of 202, ",
        ),
        ("default_page_size", 0, "assumption default_page_size cannot be 0: it must be a whole "),
        ("default_page_size", True, "assumption default_page_size cannot be true: it must be a "),
        ("progress_phases", ["a", 1], 'assumption progress_phases cannot be ["a", 1]: '),
        (
            "flag_reenabled",
            "no",
            "assumption flag_reenabled cannot be 'no': the allowed values are ",
        ),
        (
            "cursor_parameter",
            "limit",
            "assumption cursor_parameter cannot be 'limit': cursor_parameter and limit_parameter ",
        ),
    ],
)
def test_an_assumption_that_cannot_be_is_refused_with_the_reason(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(AssumptionRefused) as refused:
        Assumptions().changed({name: value})

    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("default_page_size", " 7 ", 7),
        ("progress_phases", "queued, b,c , d,e", ("queued", "b", "c", "d", "e")),
        ("problem_statuses", "invalid_request = 422, ", {"invalid_request": 422}),
        (
            "condition_codes",
            "generation_stale=etag_mismatch,rate_exceeded=rate_limited",
            {"generation_stale": "etag_mismatch", "rate_exceeded": "rate_limited"},
        ),
        ("condition_codes", "", {}),
    ],
)
def test_a_value_can_be_a_text_of_the_command_line(name: str, text: str, value: object) -> None:
    assert getattr(Assumptions().changed({name: text}), name) == value


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("keys_on_owner_calls", {"set_project_powered_by_flag", "create_dev_access_ticket"}),
        (
            "changed_and_invalid",
            {"set_project_powered_by_flag", "initialize_managed_source", "create_user_api_key"},
        ),
        (
            "replay_access",
            {
                "set_project_powered_by_flag",
                "initialize_managed_source",
                "create_user_api_key",
                "apply_project_domains",
            },
        ),
    ],
)
def test_an_assumption_affects_only_the_calls_that_it_is_about(name: str, calls: set[str]) -> None:
    assert {call for call, spec in CALLS.items() if affects_call(name, spec)} == calls
