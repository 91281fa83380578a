"""Interventions, faults and calls in any order: each is done or refused, and the world stays valid."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.contract.documents import DocumentRefused
from tests.support.fault_kinds import fault_examples
from tests.support.in_process import InProcess
from tests.support.product_tables import intervention_fields
from tests.support.worlds_on_disk import assert_transferable

PROJECTS = st.sampled_from(["shop", "labs", "notes"])
USERS = st.sampled_from(["owner", "member", "reader", "outsider", "no-organization"])
STATES = st.sampled_from(["init", "ready", "suspended", "resizing", "failed"])
#: Values for the fields of interventions. Other fields are left out.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "project": PROJECTS,
    "organization": st.sampled_from(["acme", "hobby"]),
    "user": USERS,
    "to": USERS | st.sampled_from(["pending", "authorized", "expired", "revoked"]),
    "role": st.sampled_from(["owner", "member", "maintainer", "reader", "none"]),
    "plan": st.sampled_from(["free", "paid"]),
    "credits": st.integers(0, 10),
    "permissions": st.just(["dns.read"]),
    "environment": st.sampled_from(["dev", "prod", "both"]),
    "state": STATES | st.just("absent"),
    "pending_state": STATES,
    "data_mode": st.sampled_from(["shared", "separate"]),
    "suspend_timeout_seconds": st.integers(-1, 10),
    "expires_in": st.sampled_from(["0s", "5s", "1d"]),
    "zone": st.just("customer.example"),
    "domain": st.just("own.example"),
    "count": st.integers(1, 3),
    "users": st.sampled_from(
        [[{"alias": "zoe", "organizations": {"acme": "owner"}}], [{"alias": "yan"}]]
    ),
    "projects": st.sampled_from([[{"alias": "site", "organization": "acme", "deployments": 2}]]),
    "keys": st.sampled_from([[{"user": "owner", "value": "phk_" + "k" * 43}]]),
    "ago": st.sampled_from(["1m", "5h"]),
    "status": st.sampled_from(["ready", "failed", "cancelled"]),
    "code": st.sampled_from(["quota", "operation_failed"]),
    "times": st.integers(1, 2),
}
#: The tables of the records that a field of an intervention names.
TABLES = {"operation": "operations", "ticket": "dev_access_tickets", "key": "user_api_keys"}


def intervene(api: InProcess, data: st.DataObject) -> None:
    interventions = intervention_fields()
    word = data.draw(st.sampled_from(list(interventions)))
    fields: dict[str, Any] = {}
    for name in interventions[word]:
        if data.draw(st.integers(0, 3)) == 0:
            continue
        if name in TABLES:
            latest_ids = sorted(api.records(TABLES[name]))[-4:]
            fields[name] = data.draw(st.sampled_from(latest_ids or ["none"]))
        elif name in FIELDS:
            fields[name] = data.draw(FIELDS[name])
    try:
        message = api.intervene(word, **fields)
    except DocumentRefused:
        return
    assert message


def send_call(api: InProcess, data: st.DataObject) -> None:
    project = data.draw(PROJECTS)
    user = data.draw(USERS)
    calls = (
        lambda: api.set_flag(data.draw(st.booleans()), project=project, user=user),
        lambda: api.initialize(data.draw(st.integers(0, 2)), project=project, user=user),
        lambda: api.create_key(user=user),
        lambda: api.apply_domains(project=project, user=user),
        lambda: api.dns(project=project, user=user),
        lambda: api.deployments(project=project, user=user),
        lambda: api.ticket(project=project, user=user),
        lambda: api.compute(project=project, user=user),
    )
    response = data.draw(st.sampled_from(calls))()
    assert response.status == 0 or 200 <= response.status < 600


def arm(api: InProcess, data: st.DataObject) -> None:
    examples = fault_examples()
    kind = data.draw(st.sampled_from([name for name in examples if name != "latency"]))
    after_commit = data.draw(st.booleans())
    try:
        api.add_fault(**{kind: examples[kind]}, after_commit=after_commit, times=1)
    except (
        DocumentRefused
    ) as refused:  # some kinds have one phase, or none, or need a running clock
        if refused.field not in ("after_commit", "admission_queue"):
            raise


def advance(api: InProcess, data: st.DataObject) -> None:
    api.advance(data.draw(st.sampled_from(["1s", "3s", "10s", "1d"])))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_world_stays_valid_after_any_order_of_calls_faults_and_interventions(
    data: st.DataObject,
) -> None:
    api = InProcess()
    steps = [intervene, intervene, intervene, send_call, send_call, arm, advance]

    for step in data.draw(st.lists(st.sampled_from(steps), min_size=5, max_size=30)):
        step(api, data)

    assert_transferable(api.world)
    for operation in api.records("operations").values():
        assert operation.error is None or operation.state == "failed"
