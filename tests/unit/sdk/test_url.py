"""The URL of a path: ids stand where their names stood."""

import pytest

from hosting_emulator.sdk import HostingEmulator, NoSuchName


def test_ids_take_their_places(hosting_emulator: HostingEmulator):
    emulator = hosting_emulator
    base, blog = emulator.base_url, emulator.projects["blog"]

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


def test_what_is_wrong_is_said(hosting_emulator: HostingEmulator):
    with pytest.raises(ValueError, match="a path begins with /"):
        hosting_emulator.url("v1/projects")
    with pytest.raises(NoSuchName, match="did you mean shop"):
        hosting_emulator.url("/v1/projects/{project}", project="shpo")
