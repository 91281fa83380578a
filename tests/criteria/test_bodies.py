"""Claims about the body of every call, generated from the declared type of its response."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.compound_types import Array, Fields
from hosting_emulator.criteria.request_filters import LOST_WORDS
from hosting_emulator.criteria.response_types import open_words, resource_type
from hosting_emulator.criteria.value_types import MISSING, ValueType
from tests.criteria.claims import claims
from tests.support.fault_kinds import kinds_that_lose_the_response
from tests.support.sampling import rotating
from tests.support.stories import Verdict, run_story, verdict_of

Step = dict[str, Any]
INPUTS: dict[str, Step] = {
    "set_project_powered_by_flag": {"body": {"enabled": True}},
    "initialize_managed_source": {"body": {"expected_source_generation": 1}},
    "create_user_api_key": {"body": {"name": "ci"}},
    "read_database_compute": {"query": {"environment": "prod"}},
}
LIST: Step = {"call": "list_deployments"}
READ_DNS: Step = {"call": "get_dns_authorization", "save": {"dns": "response"}}


@cache
def body_of(call: str) -> Any:
    """Return the body of a successful response, from the difference that a story reports."""
    step = {"call": call, **INPUTS.get(call, {}), "expect": {"same_as": "dns"}}
    if call == "list_deployments":
        step["query"] = {"limit": 2}
    report = run_story([READ_DNS, step])
    if report["passed"]:  # the call that reads the authorization itself
        report = run_story([{**LIST, "save": {"dns": "response"}}, step])
    [difference] = report["steps"][-1]["differences"]
    return json.loads(difference["found"])


def claims_within(kind: ValueType, actual: Any, path: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield claims about a body, its fields and the first item of its lists."""
    for expected, verdict in claims(kind, actual):
        for name in reversed(path):
            expected = {name: expected}
        yield expected, verdict
    if isinstance(kind, Fields) and isinstance(actual, dict):
        for name, inner in kind.fields.items():
            yield from claims_within(inner, actual.get(name, MISSING), (*path, name))
    if isinstance(kind, Array) and isinstance(actual, list) and actual:
        yield from claims_within(kind.item, actual[0], (*path, "0"))


def all_body_claims() -> Iterator[tuple[str, Any, Verdict]]:
    words = open_words()
    for call, spec in CALLS.items():
        kind = resource_type(spec.response, words)
        for expected, verdict in claims_within(kind, body_of(call)):
            yield call, expected, verdict


def test_every_comparison_has_a_true_a_false_and_an_impossible_claim():
    verdicts: dict[str, set[Verdict]] = {word: set() for word in COMPARISONS}
    for _, expected, verdict in all_body_claims():
        inner = expected
        while isinstance(inner, dict) and inner:
            for name in inner.keys() & verdicts.keys():
                verdicts[name].add(verdict)
            inner = next(iter(inner.values()))

    assert verdicts == {word: {"green", "red", "refused"} for word in COMPARISONS}


@pytest.mark.parametrize(("call", "expected", "verdict"), rotating(all_body_claims(), 300), ids=str)
def test_a_claim_about_a_body_is_green_only_if_it_is_true(
    call: str, expected: Any, verdict: Verdict
):
    step = {"call": call, **INPUTS.get(call, {}), "expect": {"body": expected}}
    if call == "list_deployments":
        step["query"] = {"limit": 2}
    first = {**LIST, "save": {"dns": "response"}} if call == READ_DNS["call"] else READ_DNS

    assert verdict_of([first, step]) == verdict


def test_the_words_for_lost_responses_are_those_of_the_faults():
    assert set(LOST_WORDS) == kinds_that_lose_the_response(), (
        "name the kind in LOST_WORDS of criteria/request_filters.py"
    )
