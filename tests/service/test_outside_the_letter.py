"""Alternatives that contradict a sentence of the contract are marked, never drawn, and warned about."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from hosting_emulator.sdk.emulator import AssumptionWarning
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import expect_problem

MARKED: dict[str, Any] = {
    "last_page_cursor": "null",
    "idempotency_retention": "24h",
    "listed_statuses": "open",
}


def _rows(api: CheckedWorld) -> dict[str, dict[str, Any]]:
    rows = api.emulator.control.get(api.emulator.control_path("assumptions"))["items"]
    return {row["name"]: row for row in rows}


def test_every_alternative_that_contradicts_the_contract_is_marked_with_the_sentence(
    api: CheckedWorld,
) -> None:
    marked = {name: row for name, row in _rows(api).items() if row["outside_the_letter"]}

    assert {name: row["outside_the_letter"] for name, row in marked.items()} == {
        "last_page_cursor": ["null"],
        "idempotency_retention": ["any duration"],
        "listed_statuses": ["open"],
    }
    assert all(row["contradicts"] for row in marked.values())


@pytest.mark.parametrize("name", MARKED)
def test_setting_a_marked_alternative_warns_in_the_response_and_in_the_summary(
    api: CheckedWorld, name: str
) -> None:
    assert not any(row["warning"] for row in _rows(api).values())
    assert api.emulator.summary.warnings == []

    with pytest.warns(AssumptionWarning, match=f"{name}={MARKED[name]}"):
        rows = api.emulator.set_assumptions({name: MARKED[name]})

    (warned,) = [row for row in rows if row.warning]
    assert warned.name == name
    assert warned.contradicts in warned.warning
    assert api.emulator.summary.warnings == [warned.warning]


def test_an_alternative_within_the_contract_warns_of_nothing(api: CheckedWorld) -> None:
    api.emulator.set_assumptions(
        {"accepted_status": 200, "idempotency_scope": "principal_and_call"}
    )

    assert not any(row["warning"] for row in _rows(api).values())
    assert api.emulator.summary.warnings == []


def test_a_new_world_with_a_marked_alternative_says_so_in_its_summary(api: CheckedWorld) -> None:
    control = api.emulator.control
    with (
        pytest.warns(AssumptionWarning, match="listed_statuses=open"),
        HostingEmulator.fresh(
            control, assumptions={"listed_statuses": "open", "accepted_status": 200}
        ) as fresh,
    ):
        assert len(fresh.summary.warnings) == 1


def test_a_story_reports_the_marked_alternatives_of_its_world_and_of_its_steps(
    api: CheckedWorld,
) -> None:
    text = """\
name: outside
description: Two assumptions that contradict the contract.
assumptions: {idempotency_retention: 24h, accepted_status: 200}
story:
  - assume: {listed_statuses: open}
  - assume: {listed_statuses: closed}
"""
    report = api.emulator.control.run_scenario(text=text)

    assert report.passed
    assert [warning.split()[2] for warning in report.warnings] == [
        "idempotency_retention=24h",
        "listed_statuses=open",
    ]


@pytest.mark.parametrize(
    ("name", "words", "required_word"),
    [
        ("deployment_statuses", ["waiting", "b", "c", "d", "e", "f", "g"], "queued"),
        ("reconciliation_states", ["wanted", "b", "c", "d"], "required"),
        ("database_states", ["new", "b", "c", "d", "e"], "init"),
        ("progress_phases", ["waiting", "b", "c", "d", "e"], "queued"),
        ("data_modes", ["together", "apart"], "shared"),
    ],
)
def test_a_list_of_words_without_the_contracts_own_word_at_its_position_is_refused(
    api: CheckedWorld, name: str, words: list[str], required_word: str
) -> None:
    """Each word replaces the default word at its position."""
    for refused_words in (words, [*words[1:], required_word]):
        with pytest.raises(ControlRefused, match=required_word) as refused:
            api.assume(**{name: refused_words})
        assert refused.value.status == 400

    api.assume(**{name: [required_word, *words[1:]]})


def test_a_condition_cannot_have_a_code_that_the_contract_gives_to_another(
    api: CheckedWorld,
) -> None:
    """ "A missing organization context with code organization_required": no other condition can have it."""
    for code in ("organization_required", "unauthenticated", "resource_not_found"):
        with pytest.raises(ControlRefused):
            api.assume(condition_codes={"provider_failing": code})


# --- "An exact replay (same name and Idempotency-Key)" --------------------------------------------


@pytest.mark.parametrize("call", ["create_user_api_key", "set_project_powered_by_flag"])
def test_an_unknown_query_does_not_make_a_replay_of_call_1_or_3_another_request(
    api: CheckedWorld, call: str
) -> None:
    """Calls 1 and 3 say what makes a request the same: key and body, key and name."""
    path = api.project_path("powered-by-flag")
    method = "PUT"
    body = {"enabled": False}
    if call == "create_user_api_key":
        path = f"/v1/organizations/{api.emulator.organization}/user-api-keys"
        method = "POST"
        body = {"name": "ci"}  # type: ignore[dict-item]

    first = api.call(method, path, key="k", body=body)
    second = api.call(method, f"{path}?x=1", key="k", body=body)

    assert first.status in (200, 201)
    assert second.status == 200


# --- "organization membership and product permissions are revalidated" ----------------------------


def _enable(api: CheckedWorld, *permissions: str) -> None:
    api.intervene("set_permissions", organization="acme", permissions=list(permissions))


def test_the_replay_of_a_key_creation_revalidates_the_product_permissions(
    api: CheckedWorld,
) -> None:
    """ "Organization membership and product permissions are revalidated" (call 3)."""
    first = api.create_key(key="k").json["key"]["id"]

    _enable(api)
    expect_problem(api.create_key(key="k"), 503, "api_key_permissions_unavailable")
    expect_problem(api.create_key(key="another"), 503, "api_key_permissions_unavailable")

    _enable(api, "dns.read")
    replay = api.create_key(key="k")
    assert (replay.status, replay.json["replayed"], replay.json["key"]["id"]) == (200, True, first)


def test_a_replay_needs_a_permission_of_its_own_key(api: CheckedWorld) -> None:
    """A permission that was enabled later does not belong to this key."""
    _enable(api, "dns.read")
    api.create_key(key="k")

    _enable(api, "projects.read")

    expect_problem(api.create_key(key="k"), 503, "api_key_permissions_unavailable")
    assert api.create_key(key="another").status == 201


def test_the_replay_of_a_key_creation_is_always_checked(api: CheckedWorld) -> None:
    """Session, membership and product permissions are revalidated."""
    assert api.create_key(key="k", user="member").status == 201
    token = api.emulator.token("member")

    _enable(api)
    expect_problem(api.create_key(key="k", token=token), 503, "api_key_permissions_unavailable")

    _enable(api, "dns.read")
    without_session = api.emulator.token("member", interactive=False)
    expect_problem(
        api.create_key(key="k", token=without_session), 403, "interactive_login_required"
    )

    api.intervene("remove_member", organization="acme", user="member")
    expect_problem(api.create_key(key="k", token=token), 404, "resource_not_found")


def test_a_replay_checks_the_role_and_the_permission_again(api: CheckedWorld) -> None:
    """The fixed choice `replay_access`."""
    key = api.emulator.create_api_key("member", permissions=["domains.write"]).value
    without = api.emulator.create_api_key("member", permissions=["dns.read"]).value
    assert api.apply_domains(key="k", token=key).status == 202
    expect_problem(api.apply_domains(key="k", token=without), 403, "forbidden")

    api.intervene("set_role", project="shop", user="member", role="reader")

    expect_problem(api.apply_domains(key="k", token=key), 403, "forbidden")
