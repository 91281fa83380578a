"""The projects, users and tokens of a world, and the URL of a path in it."""

from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.messages import WorldOrganization, WorldProject
from hosting_emulator.sdk import ControlRefused, HostingEmulator, NoSuchName, WorldSummary
from tests.support.http_world import HttpWorld


def changed(emulator: HostingEmulator, **parts: Any) -> HostingEmulator:
    summary: WorldSummary = replace(emulator.summary, **parts)
    return HostingEmulator(emulator.control, summary)


def test_a_world_lists_its_projects_organizations_and_users(hosting_emulator: HostingEmulator):
    world = hosting_emulator

    assert world.base_url.endswith(f"/worlds/{world.name}")
    assert world.control_url.endswith(f"/_emulator/worlds/{world.name}")
    assert list(world.projects) == ["shop", "blog", "docs", "labs", "garden", "notes"]
    assert list(world.organizations) == ["acme", "hobby"]
    assert list(world.users) == ["owner", "member", "reader", "outsider", "no-organization"]
    assert (world.project, world.organization) == (
        world.projects["shop"],
        world.organizations["acme"],
    )
    assert repr(world) == f"<HostingEmulator {world.name!r} at {world.base_url}>"


def test_a_world_without_shop_uses_its_first_project(
    hosting_emulator: HostingEmulator,
):
    notes = WorldProject(
        alias="notes", id="01P", handle="n", organization_id="01B", source_generation=0
    )
    organizations = [
        WorldOrganization(alias="a", id="01A", name="a", plan="free"),
        WorldOrganization(alias="b", id="01B", name="b", plan="free"),
    ]

    world = changed(hosting_emulator, projects=[notes], organizations=organizations)

    assert (world.project, world.organization) == ("01P", "01B")


def test_an_empty_world_has_no_project_and_no_organization(hosting_emulator: HostingEmulator):
    world = changed(hosting_emulator, projects=[], organizations=[])

    with pytest.raises(NoSuchName) as no_project:
        _ = world.project
    with pytest.raises(NoSuchName) as no_organization:
        _ = world.organization

    assert str(no_project.value) == f"world {world.name} has no project"
    assert str(no_organization.value) == f"world {world.name} has no organization"


def test_a_token_is_issued_once_and_outlives_an_advanced_clock(api: HttpWorld):
    token = api.emulator.token("reader")
    api.emulator.clock.advance("1000d")

    assert api.emulator.token("reader") == token
    assert api.deployments(token=token).status == 200


def test_a_token_can_have_a_lifetime(api: HttpWorld):
    token = api.emulator.token("reader", lifetime="60s")
    api.emulator.clock.advance(61)

    assert token != api.emulator.token("reader")
    assert api.deployments(token=token).status == 401


def test_a_token_can_be_of_a_client_without_a_sign_in(api: HttpWorld):
    token = api.emulator.token("owner", interactive=False)
    api.emulator.clock.advance("1000d")

    assert api.create_key(token=token).json["code"] == "interactive_login_required"
    assert api.deployments(token=token).status == 200


def test_a_token_of_an_unknown_user_is_refused(hosting_emulator: HostingEmulator):
    with pytest.raises(ControlRefused, match="'nobody'"):
        hosting_emulator.token("nobody")


def test_an_api_key_is_a_bearer_token_with_its_permissions(api: HttpWorld):
    key = api.emulator.api_key("owner", name="ci", permissions=["deployments.read"])

    assert api.deployments(token=key).status == 200
    assert api.set_flag(False, token=key).status == 403


def test_headers_contain_token_and_idempotency_key(hosting_emulator: HostingEmulator):
    bearer = {"Authorization": f"Bearer {hosting_emulator.token('member')}"}

    assert hosting_emulator.headers("member") == bearer
    assert hosting_emulator.headers("member", key="k-1") == {**bearer, "Idempotency-Key": "k-1"}


def test_url_replaces_placeholders_by_ids(hosting_emulator: HostingEmulator):
    emulator = hosting_emulator
    base = emulator.base_url
    blog = emulator.projects["blog"]

    assert emulator.url("/v1/projects/{project}/domains") == (
        f"{base}/v1/projects/{emulator.project}/domains"
    )
    assert (
        emulator.url("/v1/projects/{project}/x", project="blog") == f"{base}/v1/projects/{blog}/x"
    )
    assert emulator.url("/v1/organizations/{organization}") == (
        f"{base}/v1/organizations/{emulator.organization}"
    )
    hobby = emulator.organizations["hobby"]
    assert emulator.url("/o/{organization}", project="garden") == f"{base}/o/{hobby}"
    assert emulator.url("/v1/operations/a%7Bb") == f"{base}/v1/operations/a%7Bb"


def test_url_refuses_wrong_paths_and_projects(hosting_emulator: HostingEmulator):
    with pytest.raises(ValueError, match="a path must start with /"):
        hosting_emulator.url("v1/projects")
    with pytest.raises(ValueError, match=f"not '{'x' * 80}'$"):
        hosting_emulator.url("x" * 81)
    with pytest.raises(NoSuchName, match=r"'shpo'.*shop"):
        hosting_emulator.url("/v1/projects/{project}", project="shpo")
