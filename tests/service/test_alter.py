"""Altered responses: one part of a true response is changed, within the contract or beyond it."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.sdk import HostingEmulator
from tests.faults.refusals import FORBIDDEN_CHANGES
from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls
from tests.support.in_process import InProcess


def lines(response: Response) -> list[str]:
    """Return the names of the members of a response, in their order."""
    return list(response.json)


# --- Each change -----------------------------------------------------------------------------------


def test_a_field_is_set_and_everything_else_stays_as_it_was(world: CheckedCalls):
    operation = world.apply_domains().json["id"]
    plain = world.poll(operation)
    world.add_fault(alter={"set": {"/progress/phase": "warming up"}}, call="get_operation")

    altered = world.poll(operation)

    assert altered.body == plain.body.replace(b'"phase":"queued"', b'"phase":"warming up"')
    assert altered.status == plain.status


def test_an_unknown_field_is_added_behind_the_others(world: CheckedCalls):
    plain = world.dns()
    world.add_fault(alter={"set": {"/revision": 7}}, call="get_dns_authorization")

    assert world.dns().body == plain.body.replace(b"}", b',"revision":7}')


def test_a_field_is_removed():
    world = InProcess()
    plain = world.compute()
    world.add_fault(alter={"remove": ["/database/region", "/observed_at"]})

    expected = plain.json
    del expected["database"]["region"]
    del expected["observed_at"]
    assert world.compute().json == expected


def test_a_field_is_renamed_in_its_place():
    world = InProcess()
    plain = world.compute()
    world.add_fault(alter={"rename": {"/data_mode": "dataMode"}})

    assert world.compute().body == plain.body.replace(b'"data_mode"', b'"dataMode"')


def test_fields_are_reordered(world: CheckedCalls):
    plain = world.dns()
    world.add_fault(alter={"reorder": ""}, call="get_dns_authorization")

    altered = world.dns()

    assert lines(altered) == lines(plain)[::-1]
    assert altered.json == plain.json


def test_items_are_reordered_by_the_seed_of_the_world():
    def statuses() -> list[list[str]]:
        world = InProcess()
        world.intervene("add_deployments", project="shop", count=9)
        world.add_fault(alter={"reorder": {"/items": "shuffled"}})
        pages = [world.deployments() for _ in range(2)]
        return [[item["id"] for item in page.json["items"]] for page in pages]

    first, second = statuses()

    assert sorted(first) == sorted(second)
    assert first != second
    assert statuses() == [first, second]


def test_a_star_stands_for_every_item(world: CheckedCalls):
    world.intervene("add_deployments", project="shop", count=3)
    world.add_fault(alter={"set": {"/items/*/status": "superseded"}})

    statuses = {item["status"] for item in world.deployments().json["items"]}

    assert statuses == {"superseded"}


def test_an_item_is_duplicated_beyond_the_contract():
    world = InProcess()
    world.intervene("add_deployments", project="shop", count=2)
    plain = world.deployments().json["items"]
    world.add_fault(alter={"duplicate": "/items/1", "breaking": True})

    items = world.deployments().json["items"]

    assert items == [plain[0], plain[1], *plain[1:]]


def test_a_field_is_duplicated_beyond_the_contract():
    world = InProcess()
    world.add_fault(alter={"duplicate": "/zone", "breaking": True})

    assert world.dns().body.count(b'"zone":') == 2


def test_a_header_is_set_and_removed(world: CheckedCalls):
    world.add_fault(alter={"headers": {"X-Edge-Region": "eu", "Cache-Control": None}})

    response = world.dns()

    assert response.header("X-Edge-Region") == "eu"
    assert response.header("Cache-Control") is None


def test_the_status_of_an_accepted_operation_is_another_success(world: CheckedCalls):
    world.add_fault(alter={"status": 200}, call="apply_project_domains")

    assert world.apply_domains().status == 200


# --- What belongs together -------------------------------------------------------------------------


def refused(world: CheckedCalls) -> Response:
    """Return a refusal of the rate limit, which lets one request pass."""
    world.assume(rate_limit="1/60s")
    world.dns()
    return world.dns()


@pytest.mark.parametrize(
    "change",
    [
        {"headers": {"Retry-After": 7}},
        {"headers": {"retry-after": "7"}},
        {"set": {"/retry_after_seconds": 7}},
    ],
)
def test_a_wait_changes_in_header_and_body(world: CheckedCalls, change: dict[str, Any]):
    world.add_fault(alter=change)

    response = refused(world)

    assert response.header("Retry-After") == "7"
    assert response.json["retry_after_seconds"] == 7


@pytest.mark.parametrize(
    "change", [{"headers": {"Retry-After": None}}, {"remove": "/retry_after_seconds"}]
)
def test_a_wait_is_absent_from_header_and_body(world: CheckedCalls, change: dict[str, Any]):
    world.add_fault(alter=change)

    response = refused(world)

    assert response.header("Retry-After") is None
    assert "retry_after_seconds" not in response.json


@pytest.mark.parametrize(
    "change", [{"headers": {"X-Request-Id": "other"}}, {"set": {"/request_id": "other"}}]
)
def test_a_request_id_changes_in_header_and_body(world: CheckedCalls, change: dict[str, Any]):
    world.add_fault(alter=change)

    response = refused(world)

    assert response.header("X-Request-Id") == "other"
    assert response.json["request_id"] == "other"


@pytest.mark.parametrize("change", [{"status": 418}, {"set": {"/status": 418}}])
def test_a_status_changes_in_the_status_line_and_the_body(
    world: CheckedCalls, change: dict[str, Any]
):
    world.add_fault(alter=change)

    response = refused(world)

    assert response.status == 418
    assert response.json["status"] == 418


def test_the_link_of_a_problem_follows_its_code(world: CheckedCalls):
    world.add_fault(alter={"set": {"/code": "database_access_limit"}})

    response = world.call("GET", world.project_path("deployments?limit=0"))

    assert response.json["code"] == "database_access_limit"
    assert response.json["type"].endswith("/errors/database-access-limit")


def test_beyond_the_contract_only_the_named_part_changes():
    world = InProcess()
    world.set_assumptions(rate_limit="1/60s")
    world.dns()
    world.add_fault(alter={"headers": {"Retry-After": 7}, "breaking": True})

    response = world.dns()

    assert response.header("Retry-After") == "7"
    assert response.json["retry_after_seconds"] == 60


# --- Replays ---------------------------------------------------------------------------------------


def test_a_replay_equals_the_altered_first_response(world: CheckedCalls):
    world.add_fault(alter={"remove": "/progress"}, call="apply_project_domains")
    first = world.apply_domains(key="k")

    replay = world.apply_domains(key="k")

    assert "progress" not in first.json
    assert replay.body == first.body


def test_a_replay_is_not_altered(world: CheckedCalls):
    first = world.apply_domains(key="k")
    world.add_fault(alter={"remove": "/progress"}, call="apply_project_domains")

    assert world.apply_domains(key="k").body == first.body


def test_beyond_the_contract_each_response_is_altered_anew():
    world = InProcess()
    world.add_fault(alter={"status": 500, "breaking": True}, times=1)
    broken = world.set_flag(False, key="k")

    replay = world.set_flag(False, key="k")

    assert broken.status == 500
    assert replay.status == 200
    assert replay.body == broken.body


def test_a_remembered_refusal_is_altered_once(world: CheckedCalls):
    world.assume(idempotency_remembers="all_answers")
    world.add_fault(alter={"set": {"/title": "No"}}, call="initialize_managed_source")
    first = world.initialize(9, key="k")

    replay = world.initialize(9, key="k")

    assert first.json["title"] == "No"
    assert replay.body == first.body


def test_a_refusal_that_became_retryable_is_not_remembered(world: CheckedCalls):
    world.assume(idempotency_remembers="all_answers")
    world.add_fault(alter={"set": {"/retryable": True}}, call="initialize_managed_source", times=1)
    world.initialize(9, key="k")

    assert world.initialize(1, key="k").status == 202


# --- What the contract does not allow --------------------------------------------------------------


@pytest.mark.parametrize(("call", "change"), FORBIDDEN_CHANGES)
def test_what_the_contract_does_not_allow_is_refused_unless_it_is_breaking(
    call: str, change: dict[str, Any]
):
    world = InProcess()

    with pytest.raises(DocumentRefused, match="the contract forbids the change"):
        world.add_fault(alter=change, call=call)
    assert world.add_fault(alter={**change, "breaking": True}, call=call)


@pytest.mark.parametrize("endpoint", ["redeem_ticket", "idp_token"])
def test_alter_is_refused_at_an_endpoint_outside_the_api(endpoint: str):
    with pytest.raises(DocumentRefused, match="is not one of its calls; use respond") as refusal:
        InProcess().add_fault(alter={"headers": {"X-New": "1"}}, call=endpoint)

    assert refusal.value.field == "call"


def test_the_request_id_of_a_success_can_change_only_if_successes_have_one():
    world = InProcess()
    change = {"headers": {"X-Request-Id": None}}
    with pytest.raises(DocumentRefused, match="the contract forbids the change"):
        world.add_fault(alter=change, call="get_dns_authorization")

    world.set_assumptions(request_id_on_success="echoed")
    world.add_fault(alter=change, call="get_dns_authorization")

    assert world.dns(headers={"X-Request-Id": "mine"}).header("X-Request-Id") is None


@pytest.mark.parametrize("credentials", ["none", "invalid"])
def test_a_field_of_a_success_cannot_be_altered_without_valid_credentials(credentials: str):
    with pytest.raises(DocumentRefused, match="the response has no /zone"):
        InProcess().add_fault(
            alter={"set": {"/zone": "shop.example"}},
            call="get_dns_authorization",
            credentials=credentials,
        )


@pytest.mark.parametrize(
    ("call", "pointer", "hint"),
    [
        ("get_dns_authorization", "/stauts", "/status"),
        ("get_dns_authorization", "/zoen", "/zone"),
        ("get_dns_authorization", "/titel", "/title"),
        ("list_deployments", "/items/*/stadus", "/items/0/status"),
        (None, "/stauts", "/status"),
    ],
)
def test_a_new_field_with_nearly_the_name_of_another_is_refused(
    call: str | None, pointer: str, hint: str
):
    world = InProcess()
    rule = {} if call is None else {"call": call}

    with pytest.raises(DocumentRefused, match=f"did you mean {hint}") as refusal:
        world.add_fault(alter={"set": {pointer: "expired"}}, **rule)

    assert refusal.value.field == f"alter.set.{pointer}"
    assert world.add_fault(alter={"set": {pointer: "expired"}, "breaking": True}, **rule)


@pytest.mark.parametrize("item", ["0", "*"])
def test_a_part_that_the_response_lacks_is_refused_with_the_most_similar_part(item: str):
    with pytest.raises(DocumentRefused) as refusal:
        InProcess().add_fault(alter={"remove": f"/items/{item}/urll"}, call="list_deployments")

    assert f"the response has no /items/{item}/urll; did you mean /items/{item}/url?" in str(
        refusal.value
    )


@pytest.mark.parametrize("name", ["revision", "next_page", "status_text", "note"])
def test_a_new_field_with_a_name_of_its_own_is_accepted(name: str):
    assert InProcess().add_fault(alter={"set": {f"/{name}": "x"}})


def test_the_state_of_an_armed_alteration_says_that_it_has_no_phase(
    hosting_emulator: HostingEmulator,
):
    fault = hosting_emulator.fault("alter", remove="/progress")

    assert getattr(fault.state, "after_commit", "missing") is None


def test_the_end_of_an_operation_is_the_same_in_each_response():
    world = InProcess()
    change = {"set": {"/result": {"outcome": "done"}}}

    with pytest.raises(DocumentRefused, match="leave out times") as refusal:
        world.add_fault(alter=change, call="get_operation", times=1)

    assert refusal.value.field == "times"
    assert world.add_fault(alter=change, call="get_operation")


# --- When it acts ----------------------------------------------------------------------------------


def test_a_response_without_the_part_is_no_hit():
    world = InProcess()
    fault = world.add_fault(alter={"remove": "/blocking_operation_id"}, call="get_operation")
    operation = world.apply_domains().json["id"]

    world.poll(operation)

    record = world.engine.world.tables["faults"][fault]
    assert (record.seen, record.hits) == (1, 0)


def test_the_end_that_others_have_seen_is_not_altered():
    world = InProcess()
    operation = world.apply_domains().json["id"]
    world.advance("1m")
    plain = world.poll(operation)
    fault = world.add_fault(alter={"set": {"/result": {}}}, call="get_operation")

    assert world.poll(operation).body == plain.body
    assert world.engine.world.tables["faults"][fault].hits == 0


def test_the_end_of_an_unknown_operation_is_not_altered():
    world = InProcess()
    world.add_fault(alter={"set": {"/result": {}}}, call="get_operation")

    assert world.poll("0" * 26).json["code"] == "resource_not_found"
    entry = world.engine.log.find(1)
    assert entry is not None
    assert dict(entry.unaltered) == {"fault-1": "the response has no /result"}


def test_it_acts_on_problems_of_requests_without_credentials():
    world = InProcess()
    world.add_fault(alter={"set": {"/title": "Who are you?"}}, credentials="none")

    response = world.call("GET", world.project_path("edge-dns"), user=None)

    assert (response.status, response.json["title"]) == (401, "Who are you?")


def test_several_alterations_act_on_one_response_in_their_order():
    world = InProcess()
    world.add_fault(alter={"rename": {"/zone": "area"}, "breaking": True})
    world.add_fault(alter={"set": {"/area": 1}, "breaking": True})

    assert world.dns().json["area"] == 1


def test_the_response_of_another_fault_is_not_altered():
    world = InProcess()
    world.add_fault(abort={"code": "service_unavailable"}, times=1)
    fault = world.add_fault(alter={"set": {"/title": "No"}})

    assert world.dns().json["title"] != "No"
    assert world.engine.world.tables["faults"][fault].seen == 0


def test_a_response_is_altered_and_then_lost():
    world = InProcess()
    world.add_fault(alter={"remove": "/progress"}, call="apply_project_domains")
    world.add_fault(connection_reset={}, after_commit=True, times=1)
    lost = world.apply_domains(key="k")

    replay = world.apply_domains(key="k")

    assert lost.status == 0
    assert "progress" not in replay.json


def test_a_status_beyond_the_contract_leaves_the_change_made(world: CheckedCalls):
    world.add_fault(alter={"status": 503, "breaking": True}, call="set_project_powered_by_flag")

    response = world.send(
        "PUT", world.project_path("powered-by-flag"), key="k", body={"enabled": False}
    )

    assert response.status == 503
    assert world.state()["tables"]["projects"][world.project_id()].get("flag_enabled") is None


def test_an_altered_problem_can_look_like_a_success():
    world = InProcess()
    before = world.engine.world.tables["operations"]
    world.add_fault(alter={"status": 200, "breaking": True})

    response = world.initialize(9)

    assert response.status == 200
    assert world.engine.world.tables["operations"] == before


def test_a_value_that_json_cannot_express_is_refused():
    change = {"set": {"/detail": float("nan")}, "breaking": True}

    with pytest.raises(DocumentRefused, match="alter: the value cannot be written as JSON: "):
        InProcess().add_fault(alter=change)
