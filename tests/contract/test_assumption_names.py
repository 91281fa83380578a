"""A name stands for one assumption, which is either fixed or can be set, and quotes the contract."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.contract.assumption_table import affects_call, describe
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.fixed_assumptions import FIXED
from tests.contract.refusals import GOLDEN_FILE, golden_text

_CONTRACT_FILE = Path(__file__).parents[1] / "support" / "contract.txt"
#: The contract, with each line break as a space.
CONTRACT = " ".join(_CONTRACT_FILE.read_text(encoding="utf-8").split())


def test_no_assumption_is_both_fixed_and_settable() -> None:
    both = FIXED.keys() & set(Assumptions.__struct_fields__)

    assert both == set(), "delete the row in contract/fixed_assumptions.py, or choose another name"


@pytest.mark.parametrize("row", describe(Assumptions()), ids=lambda row: row["name"])
def test_the_sentences_that_an_assumption_quotes_are_in_the_contract(row: dict[str, Any]) -> None:
    """Only notes in brackets, such as `[no status given]`, are not quoted."""
    for sentence in (row["sentence"], row["contradicts"]):
        parts = [part.strip(" .,:;)") for part in re.split(r"\[[^\]]*\]", sentence)]
        assert [part for part in parts if part not in CONTRACT] == []


def test_each_value_is_accepted_or_refused_with_the_same_reason_as_before() -> None:
    """Compare everything that users read. After an intended change, run `make record`."""
    assert golden_text() == GOLDEN_FILE.read_text(encoding="utf-8")


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
