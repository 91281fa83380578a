"""A report says in words what happens in a trial."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.fault_points import KINDS, WAITING_KINDS
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import read_trial

KEY = "create_user_api_key#1"


@pytest.mark.parametrize(
    ("trial", "description"),
    [
        ("clean", "a clean run"),
        ("clean/scaled", "a clean run, in which time passes as on a wall clock"),
        ("clean/base-path", "a clean run, with a path in the base URL"),
        ("vary/1", "responses vary wherever the contract leaves a choice"),
        ("vary/1/extra-fields", "responses vary at extra-fields"),
        (
            f"{KEY}/connection_reset/after_commit",
            f"the connection of {KEY} breaks, after it has taken effect",
        ),
        (
            f"{KEY}/abort:service_unavailable/before_commit",
            f"{KEY} gets service_unavailable, before it takes effect",
        ),
        (
            "apply_project_domains#1/stick/lasting",
            "apply_project_domains#1 starts an operation that never ends",
        ),
        (
            "alter/list_deployments/2xx/remove:/items/*/url",
            "the responses to list_deployments have no items[].url",
        ),
        (
            "alter/set_project_powered_by_flag/2xx/set:/enabled",
            "enabled has the opposite value in the responses to set_project_powered_by_flag",
        ),
        (
            "alter/list_deployments/2xx/reorder:/items",
            "the order of deployments is reversed in the responses to list_deployments",
        ),
        (
            "alter/list_deployments/4xx/header:Cache-Control",
            "the header Cache-Control is missing in the responses to list_deployments 4xx",
        ),
        (
            "alter/list_deployments/2xx/status",
            "the status of the responses to list_deployments is replaced with another of the same"
            " class",
        ),
        (
            "accept/redeem_ticket#1",
            "redeem_ticket#1 is accepted, although the service would refuse it",
        ),
    ],
)
def test_a_trial_is_described_by_what_happens_in_it(trial: str, description: str) -> None:
    assert trial_description(read_trial(trial)) == description


@pytest.mark.parametrize(
    ("fault", "description"),
    [
        ("timeout", f"no response to {KEY} arrives"),
        ("connection_reset", f"the connection of {KEY} breaks"),
        ("empty_response", f"the connection of {KEY} closes without a response"),
        ("gateway_error", f"a proxy responds to {KEY} with an error page"),
        ("truncate", f"the response to {KEY} is cut off"),
        ("malformed_response", f"the response to {KEY} is not JSON"),
        ("latency", f"the response to {KEY} is late"),
        ("stalled_response", f"the response to {KEY} stops in the middle of its body"),
        ("slow_response", f"the response to {KEY} arrives slowly"),
        ("rate_limit", f"{KEY} gets rate_limited with Retry-After"),
    ],
)
def test_a_fault_is_described_by_what_the_client_sees(fault: str, description: str) -> None:
    trial = read_trial(f"{KEY}/{fault}/before_commit")

    assert trial_description(trial) == f"{description}, before it takes effect"


@pytest.mark.parametrize("kind", [*KINDS, *WAITING_KINDS])
def test_every_kind_of_fault_that_is_tried_has_a_description(kind: str) -> None:
    word = "abort:service_unavailable" if kind == "abort" else kind
    assert trial_description(read_trial(f"{KEY}/{word}/before_commit"))
