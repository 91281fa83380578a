"""Faults: whether the change is made, the ids that stay the same, and the worlds they act in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import to_builtins

from hosting_emulator.contract.calls import CallName
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support.calls import Response
from tests.support.connection_outcomes import SocketClient
from tests.support.http_world import HttpWorld
from tests.support.response_checks import expect_problem

#: Each of these keeps the first response from its client.
LOSING: list[tuple[str, dict[str, Any]]] = [
    ("abort", {"code": "service_unavailable"}),
    ("gateway_error", {"status": 504}),
    ("timeout", {}),
    ("connection_reset", {}),
    ("empty_response", {}),
    ("truncate", {"bytes": 10}),
    ("malformed_response", {}),
]
#: The mutations of the contract: method, path, body, and the table that gets a row.
MUTATIONS: dict[str, Callable[[HttpWorld], tuple[str, str, bytes, str]]] = {
    "set_project_powered_by_flag": lambda api: (
        "PUT",
        api.project_path("powered-by-flag"),
        b'{"enabled": false}',
        "",
    ),
    "initialize_managed_source": lambda api: (
        "POST",
        api.project_path("source:initialize"),
        b'{"expected_source_generation": 1}',
        "operations",
    ),
    "create_user_api_key": lambda api: (
        "POST",
        f"/v1/organizations/{api.emulator.organization}/user-api-keys",
        b'{"name": "ci"}',
        "user_api_keys",
    ),
    "apply_project_domains": lambda api: ("PUT", api.project_path("domains"), b"", "operations"),
}


def tables(api: HttpWorld) -> dict[str, Any]:
    """Return the tables of a world without the counts of its faults."""
    tables_by_name: dict[str, Any] = api.emulator.export()["tables"]
    return {
        name: rows for name, rows in tables_by_name.items() if name not in ("faults", "streams")
    }


# --- The change and the answer -------------------------------------------------------------------


@pytest.mark.parametrize(("effect", "options"), LOSING, ids=[e[0] for e in LOSING])
@pytest.mark.parametrize("call", MUTATIONS)
def test_a_retry_with_the_same_key_gets_the_result_of_the_lost_response(
    api: HttpWorld, call: CallName, effect: str, options: dict[str, Any]
):
    client = SocketClient(api)
    before = tables(api)
    method, path, body, table = MUTATIONS[call](api)
    api.emulator.fault(effect, call=call, after_commit=True, times=1, **options)

    lost = client.send(method, path, "k", body)
    changed = tables(api)
    retried = client.send(method, path, "k", body)

    if lost.received is not None and lost.received.status in (200, 201, 202):
        assert not lost.received.body.endswith(b"}")
    assert changed != before
    assert tables(api) == changed, "the retry changed something"
    assert retried.kind == "answered"
    assert retried.response.status in (200, 202)
    if table:
        assert len(changed[table]) == len(before[table]) + 1
    if call == "create_user_api_key":
        assert (retried.response.json["replayed"], retried.response.json["value"]) == (True, None)


@pytest.mark.parametrize(("effect", "options"), LOSING, ids=[e[0] for e in LOSING])
@pytest.mark.parametrize("call", MUTATIONS)
def test_a_fault_before_the_commit_changes_nothing_and_leaves_the_key_unused(
    api: HttpWorld, call: CallName, effect: str, options: dict[str, Any]
):
    client = SocketClient(api)
    before = tables(api)
    method, path, body, _ = MUTATIONS[call](api)
    api.emulator.fault(effect, call=call, after_commit=False, times=1, **options)

    client.send(method, path, "k", body)

    assert tables(api) == before
    first = client.send(method, path, "k", body)
    assert first.response.status in (200, 201, 202)
    if call == "create_user_api_key":
        assert first.response.json["replayed"] is False


def test_a_fault_after_the_commit_does_not_act_on_refused_requests(api: HttpWorld):
    fault = api.emulator.fault("abort", code="service_unavailable", after_commit=True)

    expect_problem(api.set_flag("yes"), 400, "invalid_request")
    expect_problem(api.set_flag(True, user="reader"), 403, "forbidden")
    assert (fault.seen, fault.hits) == (2, 0)
    [_, entry] = api.emulator.requests.page().items
    trail = " ".join(step.text for step in entry.trail or ())
    assert "did not act: the request was refused, so nothing was committed" in trail

    expect_problem(api.set_flag(True), 503, "service_unavailable")
    assert (fault.seen, fault.hits) == (3, 1)


def test_a_fault_after_the_commit_does_not_act_on_a_replayed_refusal(api: HttpWorld):
    api.emulator.set_assumptions({"idempotency_remembers": "all_answers"})
    expect_problem(api.initialize(7, key="k"), 409, "etag_mismatch")
    fault = api.emulator.fault("connection_reset", after_commit=True)

    expect_problem(api.initialize(7, key="k"), 409, "etag_mismatch")

    assert (fault.seen, fault.hits) == (1, 0)


@pytest.mark.parametrize(("after", "options"), LOSING, ids=[e[0] for e in LOSING])
@pytest.mark.parametrize(
    "before", [("truncate", {"bytes": 10}), ("malformed_response", {})], ids=lambda e: e[0]
)
def test_a_fault_after_the_commit_does_not_act_where_nothing_was_committed(
    api: HttpWorld, before: tuple[str, dict[str, Any]], after: str, options: dict[str, Any]
):
    api.emulator.fault(before[0], **before[1])
    late = api.emulator.fault(after, after_commit=True, **options)
    unchanged = tables(api)

    seen = SocketClient(api).send("PUT", api.project_path("domains"), "k")

    assert (seen.kind == "cut") is (before[0] == "truncate")
    assert (late.seen, late.hits) == (0, 0)
    assert tables(api) == unchanged
    assert "after_commit" not in " ".join(api.emulator.requests[0].why)


def test_slow_response_ends_the_search_over_both_phases(api: HttpWorld):
    api.emulator.fault("slow_response", bytes_per_second=1_000_000)
    late = api.emulator.fault("connection_reset", after_commit=True)

    assert api.set_flag(False).status == 200
    assert late.seen == 0


def test_a_broken_response_does_not_count_as_a_successful_call_of_the_timeline(
    hosting_emulator: HostingEmulator,
):
    outage = {"after_calls": 1, "fault": {"abort": {"code": "service_unavailable"}}}
    control = hosting_emulator.control
    scenario = {"timeline": [outage]}
    with HostingEmulator.fresh(control, scenario=scenario) as emulator:
        api = HttpWorld(emulator)
        emulator.fault("truncate", times=1)
        SocketClient(api).set_flag(False)

        assert [api.dns().status for _ in range(2)] == [200, 503]


def test_an_unauthenticated_request_matches_no_fault(api: HttpWorld):
    fault = api.emulator.fault("abort", code="service_unavailable")

    expect_problem(api.deployments(user=None), 401, "unauthenticated")

    assert fault.seen == 0


def test_an_abort_can_have_every_code(api: HttpWorld):
    for code in PROBLEMS:
        api.emulator.fault("abort", code=code, times=1)

        expect_problem(api.deployments(), PROBLEMS[code].status, code)


def test_an_abort_with_rate_limited_has_the_retry_after_of_its_fault(api: HttpWorld):
    api.emulator.fault("abort", code="rate_limited", times=1)
    api.emulator.fault("abort", code="rate_limited", retry_after_seconds=7, times=1)

    responses = [api.dns() for _ in range(2)]

    assert [response.json["retry_after_seconds"] for response in responses] == [1, 7]
    assert [response.headers["Retry-After"] for response in responses] == ["1", "7"]


# --- Ids -----------------------------------------------------------------------------------------


def arm_nothing(emulator: HostingEmulator) -> None:
    pass


def arm_what_never_fires(emulator: HostingEmulator) -> None:
    emulator.fault("abort", code="forbidden", principal="outsider", probability=0.5)


def arm_what_fires(emulator: HostingEmulator) -> None:
    emulator.fault("latency", delay_ms=1, jitter_ms=2, probability=0.5)
    emulator.fault("abort", code="forbidden", call="read_database_compute", probability=0.9)
    emulator.fault("gateway_error", call="create_user_api_key", times=2)


@pytest.fixture
def worlds(
    hosting_emulator: HostingEmulator,
) -> Iterator[Callable[[], HostingEmulator]]:
    """Return a function that makes worlds with the same seed and the same frozen time."""
    control: ControlClient = hosting_emulator.control
    names: list[str] = []

    def make() -> HostingEmulator:
        world = control.create_world(
            seed="ids", clock={"mode": "frozen", "at": "2030-01-01T00:00:00Z"}
        )
        names.append(world.name)
        return HostingEmulator(control, world)

    yield make
    for name in names:
        control.world(name).delete()


def ids_of_a_story(api: HttpWorld) -> list[str]:
    """Make calls that generate ids and secrets, retry refused ones, and return what was generated."""

    def until_done(ask: Callable[[], Response]) -> Any:
        response = ask()
        while response.status >= 400:
            response = ask()
        return response.json

    until_done(api.compute)
    key = until_done(lambda: api.create_key("ci", key="key"))
    operation = until_done(lambda: api.initialize(key="source"))
    ticket = until_done(api.ticket)
    until_done(api.compute)
    domains = until_done(lambda: api.apply_domains(key="domains"))
    secret = ticket["redeem_url"].partition("ticket=")[2]
    return [
        key["value"],
        key["key"]["id"],
        operation["id"],
        operation["deployment_id"],
        ticket["ticket_id"],
        secret,
        domains["id"],
    ]


@pytest.mark.parametrize("arm", [arm_what_never_fires, arm_what_fires])
def test_a_fault_does_not_change_generated_ids_and_secrets(
    hosting_emulator: HostingEmulator, arm: Callable[[HostingEmulator], None]
):
    drawn = []
    for arming in (None, arm):
        # Both worlds have the same name, because secrets depend on it.
        with HostingEmulator.fresh(hosting_emulator.control, name="of-one-name") as emulator:
            if arming:
                arming(emulator)
            drawn.append(ids_of_a_story(HttpWorld(emulator)))

    assert drawn[0] == drawn[1]


def test_a_probability_acts_alike_in_two_worlds_of_the_same_seed(
    worlds: Callable[[], HostingEmulator],
):
    patterns = []
    for api in (HttpWorld(worlds()), HttpWorld(worlds())):
        api.emulator.fault("abort", code="rate_limited", probability=0.5)
        patterns.append([api.dns().status for _ in range(24)])

    assert patterns[0] == patterns[1]
    assert set(patterns[0]) == {200, 429}


# --- Worlds --------------------------------------------------------------------------------------


def test_a_fault_acts_only_in_its_own_world(worlds: Callable[[], HostingEmulator]):
    faulty = HttpWorld(worlds())
    other = HttpWorld(worlds())
    fault = faulty.emulator.fault("abort", code="service_unavailable")

    assert other.dns().status == 200
    assert faulty.dns().status == 503
    assert other.emulator.faults == []
    assert fault.hits == 1


def test_a_fork_has_the_faults_of_its_origin_and_counts_separately(api: HttpWorld):
    api.emulator.fault("abort", code="service_unavailable", times=2)
    api.dns()
    fork = api.emulator.fork()

    assert [HttpWorld(fork).dns().status for _ in range(2)] == [503, 200]
    assert [api.dns().status for _ in range(2)] == [503, 200]
    assert [fault.hits for fault in fork.faults] == [2]


def test_a_reset_removes_all_faults(api: HttpWorld):
    api.emulator.fault("abort", code="service_unavailable")

    api.emulator.reset()

    assert api.emulator.faults == []


# --- Control -------------------------------------------------------------------------------------


def test_faults_are_listed_in_the_order_they_are_tried(api: HttpWorld):
    for _ in range(11):
        api.emulator.fault("latency", delay_ms=1)
    api.emulator.fault("abort", code="rate_limited", times=1)

    assert api.dns().status == 429

    armed = api.emulator.faults
    listed = [fault.state for fault in armed]
    assert [fault.id for fault in listed] == [f"fault-{n}" for n in range(1, 13)]
    assert [fault.order for fault in listed] == list(range(12))
    assert [fault.hits for fault in listed] == [1] * 12
    assert [fault.spent for fault in listed] == [False] * 11 + [True]
    assert armed[2].now == listed[2]


def test_a_removed_fault_does_not_act(api: HttpWorld):
    fault = api.emulator.fault("abort", code="rate_limited")
    other = api.emulator.fault("abort", code="forbidden")

    fault.remove()
    assert api.dns().status == 403
    with pytest.raises(
        ControlRefused, match=r"there is no fault 'fault-1'; the armed faults are fault-2$"
    ):
        fault.remove()

    with pytest.raises(
        ControlRefused, match="no such path"
    ):  # an empty id does not stand for all faults
        api.emulator.control.delete(api.emulator.control_path("faults") + "/")
    assert api.emulator.clear_faults() == 1
    assert api.dns().status == 200
    with pytest.raises(ControlRefused, match="no fault is armed"):
        _ = other.now


def test_a_refused_fault_is_not_armed(api: HttpWorld):
    before = api.emulator.export()

    with pytest.raises(ControlRefused, match="did you mean list_deployments") as caught:
        api.emulator.arm({"timeout": {}, "call": "list_deployment"})

    assert caught.value.status == 400
    assert api.emulator.export() == before


def test_a_body_path_with_an_index_of_thousands_of_digits_matches_nothing(api: HttpWorld):
    path = "expected_source_generation." + "9" * 5_000
    api.emulator.fault("abort", code="service_unavailable", body={path: "x"})

    assert api.initialize(["x"]).status == 400


def test_the_log_explains_the_effect_of_a_fault(api: HttpWorld):
    api.emulator.fault("latency", delay_ms=1)
    api.emulator.fault("abort", code="rate_limited", after_commit=True)

    api.set_flag(True)

    [entry] = api.emulator.requests.page().items
    assert entry.why[:2] == (
        "fault-1 (latency, before_commit) acted, hit 1",
        "fault-2 (abort, after_commit) acted, hit 1",
    )


def test_a_fault_acts_from_its_from_until_its_ttl_ends(api: HttpWorld):
    api.emulator.fault("abort", code="rate_limited", until="10m", from_="1m")

    statuses = []
    for step in ("59s", "1s", "8m59s999ms", "1ms"):
        api.advance(step)
        statuses.append(api.dns().status)

    assert statuses == [200, 429, 429, 200]


# --- The plugin's handle -------------------------------------------------------------------------


def test_a_fault_is_removed_at_the_end_of_its_block(api: HttpWorld):
    with api.emulator.fault("abort", code="rate_limited") as fault:
        assert api.dns().status == 429
        assert fault.hits == 1

    assert api.dns().status == 200


def test_a_removed_fault_keeps_its_counts(api: HttpWorld):
    with api.emulator.fault("abort", code="rate_limited") as fault:
        api.dns()
    api.dns()

    assert (fault.seen, fault.hits, fault.spent) == (1, 1, False)


def test_a_fault_is_removed_although_its_block_fails(api: HttpWorld):
    def fail() -> None:
        with api.emulator.fault("abort", code="rate_limited"):
            raise RuntimeError("the test")

    with pytest.raises(RuntimeError, match="the test"):
        fail()

    assert api.dns().status == 200


def test_a_fault_can_be_removed_inside_its_block(api: HttpWorld):
    with api.emulator.fault(abort={"code": "rate_limited"}, from_="0s") as fault:
        fault.remove()

        assert api.dns().status == 200


def test_the_options_of_an_effect_can_be_written_beside_the_rule(api: HttpWorld):
    rule: dict[str, Any] = {
        "call": "list_deployments",
        "times": 2,
        "after_commit": True,
        "until": "10m",
    }

    beside = api.emulator.fault("rate_limit", limit=3, window="30s", from_="1m", **rule).now
    same = api.emulator.fault(rate_limit={"limit": 3, "window": "30s"}, from_="1m", **rule).now

    def without_place(fault: Any) -> dict[str, Any]:
        members = to_builtins(fault).items()
        return {name: value for name, value in members if name not in ("id", "order")}

    assert without_place(beside) == without_place(same)
