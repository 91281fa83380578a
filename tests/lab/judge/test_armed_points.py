"""The protected fault of a point is armed for a request of the clean run."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.armed_points import protected_fault
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import FaultPoint
from tests.lab.judge.samples import exchange, sample_clean_run, sample_observation

CLEAN_RUN = sample_clean_run(
    sample_observation(
        requests=number_requests(
            [exchange("create_user_api_key", 201), exchange("create_user_api_key", 409)]
        )
    )
)


class WorldWithTokens:
    """A world that issues tokens. Nothing else of a world is used."""

    def token(self, user: str) -> str:
        return f"token of {user}"


def armed(point: str, token: str | None = None) -> JsonObject:
    """Return the protected fault of a point at the clean run."""
    world: Any = WorldWithTokens()
    return protected_fault(FaultPoint.read(point), CLEAN_RUN, world, token, late_ms=700)


def test_a_fault_of_the_wire_meets_the_request_of_the_clean_run():
    assert armed("create_user_api_key#1/latency/after_commit") == {
        "fault": {
            "latency": {"delay_ms": 700},
            "call": "create_user_api_key",
            "after_commit": True,
            "skip_first": 0,
            "times": 1,
        }
    }


@pytest.mark.parametrize(("token", "expected"), [("mine", "mine"), (None, "token of owner")])
def test_an_expired_token_is_the_token_of_the_client(token: str | None, expected: str):
    fault = armed("create_user_api_key#1/token_expired/lasting", token)["fault"]

    assert fault["header"] == {"Authorization": f"Bearer {expected}"}


def test_an_outage_does_not_depend_on_the_token():
    assert "header" not in armed("create_user_api_key#1/outage/lasting", "mine")["fault"]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (
            "create_user_api_key#3/timeout/before_commit",
            "the clean run has no request create_user_api_key#3: it sends 2 of create_user_api_key",
        ),
        (
            "create_user_api_key#2/timeout/after_commit",
            "create_user_api_key#2 gets 409 in the clean run, so there is no commit",
        ),
        (
            "create_user_api_key#1/stick/lasting",
            "stick does not apply to create_user_api_key#1 of the clean run",
        ),
    ],
)
def test_a_point_that_no_request_can_meet_is_refused(point: str, message: str):
    with pytest.raises(ValueError, match=message):
        armed(point)
