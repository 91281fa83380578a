"""Interventions, faults and calls in any order: each is done or refused, and the world stays sound."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.contract.words import DocumentRefused
from hosting_emulator.faults.documents import arm
from hosting_emulator.faults.interventions import INTERVENTIONS, read_intervention
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.world.tables import API_KEYS, OPERATIONS, TICKETS
from hosting_emulator.world.value import Change
from tests.support.in_process import InProcess
from tests.support.worlds_on_disk import assert_sound

PROJECTS = st.sampled_from(["shop", "labs", "notes"])
PEOPLE = st.sampled_from(["owner", "member", "reader", "outsider", "no-organization"])
STATES = st.sampled_from(["init", "ready", "suspended", "resizing", "failed"])
#: What a field of this name may be; the rest is left out, or is one of the wrong kind.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "project": PROJECTS,
    "organization": st.sampled_from(["acme", "hobby"]),
    "person": PEOPLE,
    "to": PEOPLE | st.sampled_from(["pending", "authorized", "expired", "revoked"]),
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
    "people": st.sampled_from(
        [[{"alias": "zoe", "organizations": {"acme": "owner"}}], [{"alias": "yan"}]]
    ),
    "projects": st.sampled_from([[{"alias": "site", "organization": "acme", "deployments": 2}]]),
    "keys": st.sampled_from([[{"person": "owner", "value": "phk_" + "k" * 43}]]),
    "ago": st.sampled_from(["1m", "5h"]),
    "status": st.sampled_from(["ready", "failed", "cancelled"]),
    "code": st.sampled_from(["quota", "operation_failed"]),
    "times": st.integers(1, 2),
}
#: These name a row that is there: which one is drawn once there are some.
ROWS: dict[str, Any] = {"operation": OPERATIONS, "ticket": TICKETS, "key": API_KEYS}


def intervene(api: InProcess, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(list(INTERVENTIONS)))
    fields: dict[str, Any] = {}
    for name in INTERVENTIONS[word].__struct_fields__:
        if data.draw(st.integers(0, 3)) == 0:
            continue
        if name in ROWS:
            keys = sorted(key for key, _ in api.world.rows(ROWS[name]))[-4:]
            fields[name] = data.draw(st.sampled_from(keys or ["none"]))
        elif name in FIELDS:
            fields[name] = data.draw(FIELDS[name])
    change = Change(api.world, api.engine.run_due())
    try:
        said = read_intervention({word: fields}).apply(change)
    except DocumentRefused:
        return  # and the change is dropped
    assert said
    api.engine.commit(change, word)


def ask(api: InProcess, data: st.DataObject) -> None:
    project = data.draw(PROJECTS)
    who = data.draw(PEOPLE)
    calls = (
        lambda: api.set_flag(data.draw(st.booleans()), project=project, who=who),
        lambda: api.initialize(data.draw(st.integers(0, 2)), project=project, who=who),
        lambda: api.create_key(who=who),
        lambda: api.apply_domains(project=project, who=who),
        lambda: api.dns(project=project, who=who),
        lambda: api.deployments(project=project, who=who),
        lambda: api.ticket(project=project, who=who),
        lambda: api.compute(project=project, who=who),
    )
    answer = data.draw(st.sampled_from(calls))()
    assert answer.status == 0 or 200 <= answer.status < 600


def arm_any(api: InProcess, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([name for name in fault_kinds() if name != "latency"]))
    phase = data.draw(st.sampled_from(["before_commit", "after_commit"]))
    change = Change(api.world, api.engine.run_due())
    arm(change, {kind: dict(fault_kinds()[kind].example), "phase": phase, "times": 1})
    api.engine.commit(change, "armed")


def advance(api: InProcess, data: st.DataObject) -> None:
    by_ms = data.draw(st.sampled_from([1_000, 3_000, 10_000, 86_400_000]))
    api.engine.move_to(api.engine.now_ms() + by_ms)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_order_is_done_or_refused(data: st.DataObject):
    api = InProcess()
    turns = [intervene, intervene, intervene, ask, ask, arm_any, advance]

    for turn in data.draw(st.lists(st.sampled_from(turns), min_size=5, max_size=30)):
        turn(api, data)

    assert_sound(api.world)
    for _, operation in api.world.rows(OPERATIONS):
        assert operation.error is None or operation.state == "failed"
