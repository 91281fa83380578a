"""A change whose response is lost, with requests: urllib3 retries it with the same key."""

from __future__ import annotations

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from pytest_hosting_emulator import HostingEmulator


def test_a_retry_after_a_lost_response_is_replayed(hosting_emulator: HostingEmulator):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/domains"
    lost = hosting_emulator.fault(
        "connection_reset", call="apply_project_domains", after_commit=True, times=1
    )

    with requests.Session() as owner:
        owner.mount("http://", HTTPAdapter(max_retries=Retry(total=2, allowed_methods=None)))
        response = owner.put(url, headers=hosting_emulator.headers("owner", key="domains-1"))

    assert (response.status_code, lost.hits) == (202, 1)
    first, second = hosting_emulator.requests.assert_made("apply_project_domains", key="domains-1")
    assert (first.lost, second.replayed) == ("connection_reset", True)
