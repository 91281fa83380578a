"""What a server does where the contract is silent becomes assumptions, words and notes."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior


def test_the_values_of_open_sets_are_collected_by_the_name_of_the_set() -> None:
    behavior = ServerBehavior()
    fields = ("progress.phase", "reconciliation.state", "error.code", "items[].status", "status")
    for field in fields:
        for word in ("b", "a", "b"):
            behavior.record_word(field, word)

    assert behavior.words == {
        "progress.phase": {"a", "b"},
        "reconciliation.state": {"a", "b"},
        "error.code": {"a", "b"},
        "Deployment.status": {"a", "b"},
    }


_OTHER_FORM = "timestamps have more than one format, or one that this emulator cannot write"


@pytest.mark.parametrize(
    ("texts", "form", "notes"),
    [
        (["2026-03-01T12:00:00.000Z", "2026-03-01T12:00:01.500Z"], "milliseconds", []),
        (["2026-03-01T12:00:00.000000Z"], "microseconds", []),
        (["2026-03-01T12:00:00.000+00:00"], "offset", []),
        (["2026-03-01T12:00:00Z"], None, [_OTHER_FORM]),
        (["2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000000Z"], None, [_OTHER_FORM]),
        ([], None, []),
    ],
)
def test_the_form_of_timestamps_is_observed_if_there_is_only_one(
    texts: list[str], form: str | None, notes: list[str]
) -> None:
    behavior = ServerBehavior()
    for text in texts:
        behavior.record_timestamp(text)

    assert behavior.observed_assumptions().get("timestamp_form") == form
    assert behavior.notes == notes


def test_a_value_that_no_assumption_can_express_becomes_a_note() -> None:
    behavior = ServerBehavior()
    behavior.record("deployment_order", "by_color")
    behavior.record("cursor_parameter", "after")
    behavior.record("cursor_parameter", "page")
    behavior.record("not_an_assumption", 1)

    assert behavior.observed_assumptions() == {"cursor_parameter": "page", "problem_statuses": {}}
    assert behavior.notes == ["deployment_order is 'by_color', which no assumption can express"]
    behavior.observed_assumptions()
    assert len(behavior.notes) == 1


def test_a_status_is_observed_if_it_differs_from_ours_and_the_contract_does_not_state_it() -> None:
    behavior = ServerBehavior()
    for code, status in (
        ("resource_not_found", 410),  # the contract states 404
        ("etag_mismatch", 412),
        ("etag_mismatch", 400),
        ("forbidden", 403),
        ("forbidden", 401),
    ):
        behavior.record_status(code, status)

    assert behavior.observed_assumptions()["problem_statuses"] == {"etag_mismatch": 400}
