"""With urllib3: a pool for the whole test."""

from __future__ import annotations

import urllib3

from pytest_hosting_emulator import HostingEmulator


def test_the_pages_of_deployments_are_complete(hosting_emulator: HostingEmulator):
    hosting_emulator.intervene("add_deployments", project="shop", count=3)
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/deployments"
    deployment_ids: list[str] = []
    cursor: str | None = None

    with urllib3.PoolManager(headers=hosting_emulator.headers("reader")) as http:
        while cursor or not deployment_ids:
            fields = {"limit": "2", **({"cursor": cursor} if cursor else {})}
            page = http.request("GET", url, fields=fields).json()
            deployment_ids += [deployment["id"] for deployment in page["items"]]
            cursor = page.get("next_cursor")

    assert len(deployment_ids) == len(set(deployment_ids)) >= 3
    hosting_emulator.requests.assert_none_failed()
