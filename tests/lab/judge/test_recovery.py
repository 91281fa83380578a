"""A client recovers from a failure if its requests succeed as often as in the clean run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hosting_emulator_lab.judge.client_requests import ObservedExchange, number_requests
from hosting_emulator_lab.judge.recovery import has_recovered
from hosting_emulator_lab.judge.run_observation import Observation
from tests.lab.judge.samples import exchange, sample_clean_run, sample_observation

#: The explanation that a fault damaged a response.
ACTED = "F1 (malformed_response, after_commit) acted"
APPLY = exchange("apply_project_domains", 202)
FIRST_POLL = exchange("get_operation", path="/v1/operations/A")
OTHER_POLL = exchange("get_operation", path="/v1/operations/B")
LIST = exchange("list_deployments")
CLEAN = (APPLY, FIRST_POLL, FIRST_POLL, FIRST_POLL, LIST)


def run_of(exchanges: Sequence[ObservedExchange]) -> Observation:
    return sample_observation(requests=number_requests(exchanges))


def changed(base: ObservedExchange, **fields: Any) -> ObservedExchange:
    return exchange(base.call, **{"status": base.status, "path": base.path, **fields})


@pytest.mark.parametrize(
    ("exchanges", "recovers"),
    [
        pytest.param(CLEAN, True, id="the same requests"),
        pytest.param((changed(LIST, status=503), *CLEAN), True, id="a retry"),
        pytest.param((APPLY, FIRST_POLL, LIST), True, id="fewer polls"),
        pytest.param((*CLEAN, OTHER_POLL, LIST), True, id="more requests"),
        pytest.param(CLEAN[:-1], False, id="no list"),
        pytest.param((*CLEAN[:-1], changed(LIST, status=404)), False, id="a refused list"),
        pytest.param((*CLEAN[:-1], changed(LIST, lost="reset")), False, id="a lost response"),
        pytest.param((*CLEAN[:-1], changed(LIST, why=(ACTED,))), False, id="a damaged response"),
        pytest.param((APPLY, LIST), False, id="no poll"),
        pytest.param(
            (APPLY, FIRST_POLL, changed(FIRST_POLL, status=503), LIST),
            False,
            id="a refused last poll",
        ),
        pytest.param(
            (APPLY, changed(FIRST_POLL, status=503), FIRST_POLL, LIST), True, id="a retried poll"
        ),
    ],
)
def test_a_run_recovers_if_its_requests_succeed_as_often_as_in_the_clean_run(
    exchanges: Sequence[ObservedExchange], recovers: bool
) -> None:
    clean = sample_clean_run(run_of(CLEAN))

    assert has_recovered(run_of(exchanges), clean) == recovers


def test_each_operation_must_be_polled() -> None:
    clean = sample_clean_run(run_of((APPLY, FIRST_POLL, OTHER_POLL)))

    assert not has_recovered(run_of((APPLY, FIRST_POLL, FIRST_POLL)), clean)
