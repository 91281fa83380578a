"""Organizations, users, projects and keys are added to a running world."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import CheckedWorld

KEY = "phk_AKeyForTestsWhichIsNobodysSecret00000000000"
ZOE = {"alias": "zoe", "organizations": {"acme": "member"}, "projects": {"shop": "reader"}}


def deployments(api: CheckedWorld, token: str, project: str = "shop") -> Any:
    path = f"/v1/projects/{api.emulator.projects[project]}/deployments"
    return api.send("GET", path, token=token)


def test_users_that_are_added_can_send_requests_at_once(api: CheckedWorld):
    sentence = api.emulator.add(
        organizations=[{"alias": "studio", "plan": "free"}],
        users=[
            ZOE,
            {"alias": "ada", "email": "ada@x.example", "organizations": {"studio": "owner"}},
        ],
        projects=[{"alias": "site", "organization": "studio", "deployments": [{"ago": "3h"}, {}]}],
    )

    assert sentence == "added studio, zoe, ada, site"
    assert len(deployments(api, api.emulator.token("zoe")).json["items"]) == 20
    assert len(deployments(api, api.emulator.token("ada"), "site").json["items"]) == 2
    assert [*api.emulator.projects][-1] == "site"


def test_added_records_have_the_ids_that_a_scenario_file_gives_them(api: CheckedWorld, tmp_path):
    site = {"alias": "site", "organization": "acme"}
    scenario = {"world": {"extends": "default", "users": [ZOE], "projects": [site]}}

    api.emulator.add(users=[ZOE], projects=[site])
    scenario_world = type(api.emulator).fresh(
        api.emulator.control, scenario=scenario, seed=api.emulator.summary.seed
    )

    with scenario_world:
        assert dict(scenario_world.users) == dict(api.emulator.users)
        assert dict(scenario_world.projects) == dict(api.emulator.projects)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"users": [{"alias": "zoe", "organizations": {"amce": "owner"}}]}, "acme"),
        ({"users": [{"alias": "owner"}]}, r"users\.0\.alias: .*'owner'"),
        ({"users": [ZOE, ZOE]}, r"users\.1\.alias: .*'zoe'"),
        ({"users": [{"alias": "zoe", "emial": "a@b.example"}]}, r"email\b"),
        (
            {"users": [{"alias": "zoe", "organizations": {"acme": "ownr"}}]},
            "'ownr'.*owner",
        ),
        ({"projects": [{"alias": "site", "organization": "amce"}]}, "acme"),
        ({"organizations": [{"alias": "acme"}]}, r"organizations\.0\.alias: .*'acme'"),
        ({"keys": [{"user": "zeo", "value": KEY}]}, "no user 'zeo'"),
        ({"keys": [{"user": "member", "value": KEY, "organization": "hobby"}]}, "not a member of hobby"),
        (
            {"keys": [{"user": "member", "value": KEY, "permissions": ["projects.reed"]}]},
            r"projects\.read\b",
        ),
        ({"keys": [{"user": "member", "value": KEY}] * 2}, r"keys\.1\.value: "),
        ({"projects": [{"alias": "x", "organization": "acme", "deployments": [{"ago": "soon"}]}]}, "soon"),
        ({}, "give at least one of organizations"),
    ],
)  # fmt: skip
def test_impossible_additions_are_refused_with_advice(
    api: CheckedWorld, parts: dict[str, Any], words: str
):
    before = api.state()

    with pytest.raises(ControlRefused, match=words):
        api.emulator.add(**parts)

    assert api.state() == before


def test_an_addition_is_one_commit_that_rewind_and_reset_undo(api: CheckedWorld):
    before = api.emulator.summary.commit
    api.emulator.add(users=[ZOE])
    assert api.emulator.history[-1].title == "intervention add"
    assert api.emulator.history[-1].summary == "users=zoe"

    api.emulator.rewind(before)
    assert "zoe" not in api.emulator.users

    api.emulator.add(users=[ZOE])
    api.emulator.reset()
    assert "zoe" not in api.emulator.users


def test_a_deployment_is_added_as_described_and_not_before_an_earlier_one(api: CheckedWorld):
    commit = "8f4c0f1d2f0e4f5a9b6c7d8e9f0a1b2c3d4e5f60"
    api.emulator.intervene("add_deployments", project="labs", commit=commit, ago="2h")
    api.emulator.intervene("add_deployments", project="labs", status="failed", ago="1h")

    newest, first = deployments(api, api.emulator.token(), "labs").json["items"]
    assert (first["commit_sha"], newest["status"]) == (commit, "failed")
    with pytest.raises(ControlRefused, match="labs has a later deployment"):
        api.emulator.intervene("add_deployments", project="labs", ago="90m")
    with pytest.raises(ControlRefused, match="is in the future"):
        api.emulator.intervene("add_deployments", project="labs", at="2099-01-01T00:00:00Z")


# --- Keys whose value somebody chose -------------------------------------------------------------


def test_a_key_with_a_chosen_value_has_the_permissions_of_its_description(api: CheckedWorld):
    api.emulator.add(keys=[{"user": "member", "value": KEY, "permissions": ["deployments.read"]}])

    assert deployments(api, KEY).status == 200
    path = f"/v1/projects/{api.emulator.projects['shop']}/edge-dns"
    assert api.send("GET", path, token=KEY).status == 403
    [key] = api.emulator.control.get(api.emulator.control_path("keys"))["items"]
    assert key["obfuscated_value"] == "phk_…0000"


@pytest.mark.parametrize(
    "value", ["phk_short", KEY[:-1], f"{KEY}0", KEY.replace("phk_", "abc_"), "x"]
)
def test_a_key_value_of_another_form_is_refused_without_repeating_it(api: CheckedWorld, value: str):
    with pytest.raises(ControlRefused, match="phk_ and 43 characters") as refused:
        api.emulator.add(keys=[{"user": "member", "value": value}])

    assert value == "x" or value not in str(refused.value)


def test_a_chosen_key_value_is_in_no_document_and_in_no_store(api: CheckedWorld):
    scenario = {
        "world": {"extends": "default", "keys": [{"user": "member", "value": KEY}]},
        "timeline": [
            {"at": "1h", "intervene": {"add": {"keys": [{"user": "owner", "value": KEY[:-1] + "1"}]}}}
        ],
    }  # fmt: skip
    world = type(api.emulator).fresh(api.emulator.control, scenario=scenario)
    with world:
        world.add(keys=[{"user": "reader", "value": KEY[:-1] + "2"}])
        world.clock.advance("2h")
        for value in (KEY, KEY[:-1] + "1", KEY[:-1] + "2"):
            assert deployments(CheckedWorld(world), value).status == 200
        shown_documents = [
            world.export(with_seed=True),
            world.control.get(world.control_path("history")),
            world.report(),
            world.control.get(world.control_path("requests", limit=100)),
            world.control.get(world.control_path("timeline")),
        ]
        documents = json.dumps(shown_documents, default=str)
        assert KEY[:-1] not in documents

        world.reset()
        assert deployments(CheckedWorld(world), KEY).status == 200


def test_a_file_can_hold_the_digest_in_place_of_the_value(api: CheckedWorld):
    from hashlib import sha256

    digest = sha256(KEY.encode()).hexdigest()
    api.emulator.add(keys=[{"user": "member", "value": f"sha256:{digest}"}])

    assert deployments(api, KEY).status == 200
    with pytest.raises(ControlRefused, match=r"keys\.0\.value: "):
        api.emulator.add(keys=[{"user": "owner", "value": KEY}])


def test_a_recorded_scenario_has_the_additions_but_no_key_value(api: CheckedWorld):
    api.emulator.add(users=[ZOE], keys=[{"user": "zoe", "value": KEY}])
    deployments(api, api.emulator.token("zoe"))

    recorded = api.emulator.record()

    assert "alias: zoe" in recorded.text
    assert KEY not in recorded.text
    assert "sha256:" in recorded.text
