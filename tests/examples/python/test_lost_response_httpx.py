"""A change whose response is lost, with httpx: a retry loop with one key for all attempts."""

from __future__ import annotations

from uuid import uuid4

import httpx

from pytest_hosting_emulator import HostingEmulator


def hide_flag(http: httpx.Client, project: str, attempts: int = 3) -> httpx.Response:
    """Stands for your client. All attempts share one key, which makes a retry safe."""
    headers = {"Idempotency-Key": str(uuid4())}
    for attempt in range(1, attempts + 1):
        try:
            return http.put(
                f"/v1/projects/{project}/powered-by-flag", json={"enabled": False}, headers=headers
            )
        except httpx.TransportError:
            if attempt == attempts:
                raise
    raise ValueError("attempts must be 1 or more")


def test_a_retry_after_a_lost_response_reuses_its_key(hosting_emulator: HostingEmulator):
    with (
        httpx.Client(
            base_url=hosting_emulator.base_url, headers=hosting_emulator.headers("owner")
        ) as owner,
        hosting_emulator.fault("connection_reset", after_commit=True, times=2),
    ):
        response = hide_flag(owner, hosting_emulator.project)

    assert response.json()["enabled"] is False
    requests = hosting_emulator.requests.assert_made("set_project_powered_by_flag", times=3)
    assert [request.lost for request in requests] == ["connection_reset", "connection_reset", None]
    assert len({request.idempotency_key for request in requests}) == 1
