"""A report says in words what happens in a trial."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.fault_points import KINDS, WAITING_KINDS
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import read_trial

KEY = "create_user_api_key#1"
LIST = "list_deployments#1"
#: The effect of a change before the commit, by fault, unless the change has no effect.
EFFECTS_BEFORE = {
    "latency": "because the request takes effect late",
    "stalled_response": "although the request has taken effect",
    "slow_response": "although the request has taken effect",
}


@pytest.mark.parametrize(
    ("trial", "description"),
    [
        ("clean", "nothing goes wrong"),
        ("clean/scaled", "nothing goes wrong, and time passes as on a wall clock"),
        ("clean/base-path", "nothing goes wrong, and the base URL has a path"),
        ("vary/1", "responses vary wherever the contract leaves a choice"),
        ("vary/1/extra-fields", "responses vary at the variation point extra-fields"),
        (
            "vary/1/extra-fields,key-order",
            "responses vary at the variation points extra-fields and key-order",
        ),
        (
            f"{KEY}/connection_reset/after_commit",
            f"the connection of {KEY} breaks before a response arrives, although the request has taken"
            " effect",
        ),
        (
            f"{KEY}/abort:service_unavailable/before_commit",
            f"{KEY} gets service_unavailable, and the request has no effect",
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
            "enabled has another value in the responses to set_project_powered_by_flag",
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
        ("timeout", "no response to {} arrives"),
        ("connection_reset", "the connection of {} breaks before a response arrives"),
        ("empty_response", "the connection of {} closes without a response"),
        ("gateway_error", "a proxy responds to {} with an error page"),
        ("truncate", "the response to {} is cut off"),
        ("malformed_response", "the response to {} is not JSON"),
        ("latency", "the response to {} is late"),
        ("stalled_response", "the response to {} stops in the middle of its body"),
        ("slow_response", "the response to {} arrives slowly"),
        ("rate_limit", "{} gets rate_limited with Retry-After"),
    ],
)
def test_a_fault_is_described_by_what_the_client_sees_and_by_the_effect_of_a_change(
    fault: str, description: str
) -> None:
    change = trial_description(read_trial(f"{KEY}/{fault}/before_commit"))
    read = trial_description(read_trial(f"{LIST}/{fault}/before_commit"))

    effect = EFFECTS_BEFORE.get(fault, "and the request has no effect")
    assert change == f"{description.format(KEY)}, {effect}"
    assert read == description.format(LIST), "a read has no effect"


@pytest.mark.parametrize("kind", [*KINDS, *WAITING_KINDS])
def test_every_kind_of_fault_that_is_tried_has_a_description(kind: str) -> None:
    word = "abort:service_unavailable" if kind == "abort" else kind
    assert trial_description(read_trial(f"{KEY}/{word}/before_commit"))
