"""Access tokens from the control API: the organization that they are for."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from tests.support.http_world import HttpWorld


@pytest.mark.parametrize(
    ("members", "has_organization"),
    [({}, True), ({"organization": "acme"}, True), ({"organization": None}, False)],
)
def test_a_token_may_be_for_no_organization(
    api: HttpWorld, members: dict[str, Any], has_organization: bool
):
    world = api.emulator
    response = world.control.post(world.control_path("tokens"), {"user": "owner", **members})

    payload = response["access_token"].split(".")[1]
    claims = json.loads(urlsafe_b64decode(payload + "=="))
    assert ("org_id" in claims) == has_organization
