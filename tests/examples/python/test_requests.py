"""With requests: a session with a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from pytest_hosting_emulator import HostingEmulator


@pytest.fixture
def owner(hosting_emulator: HostingEmulator) -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.headers.update(hosting_emulator.headers("owner"))
        yield session


def test_the_owner_hides_the_flag(hosting_emulator: HostingEmulator, owner: requests.Session):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/powered-by-flag"

    response = owner.put(url, json={"enabled": False}, headers={"Idempotency-Key": "hide-1"})

    assert (response.status_code, response.json()["enabled"]) == (200, False)
    hosting_emulator.requests.assert_made("set_project_powered_by_flag", key="hide-1", times=1)


def test_a_reader_may_not_hide_the_flag(hosting_emulator: HostingEmulator):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/powered-by-flag"

    response = requests.put(
        url, json={"enabled": False}, headers=hosting_emulator.headers("reader", key="hide-1")
    )

    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
