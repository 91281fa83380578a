"""Requests that a fault delivers twice: what the client receives, and what counts the second delivery."""

from __future__ import annotations

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls
from tests.support.http_world import HttpWorld
from tests.support.in_process import InProcess, fresh_world
from tests.support.judged_world import JudgedWorld

TICKET = "create_dev_access_ticket"
KEY = "create_user_api_key"


def deliver_twice(world: CheckedCalls | InProcess, response: str, **rule: object) -> str:
    """Arm the fault, so that the client receives the response to this delivery."""
    return world.add_fault(deliver_twice={"response": response}, **rule)


def trail(emulator: HostingEmulator, number: int) -> str:
    """Return the trail of a request of the log, as one text."""
    return " ".join(step.text for step in emulator.requests.whole(number).trail)


def redeem(api: InProcess, ticket: Response) -> Response:
    return api.redeem(ticket.json["redeem_url"])


# --- What the client receives ----------------------------------------------------------------------


def test_the_second_delivery_of_a_ticket_voids_the_ticket_of_the_first():
    api = InProcess()
    deliver_twice(api, "first", call=TICKET, times=1)

    voided = api.ticket()

    assert voided.status == 201
    assert redeem(api, voided).status == 404
    assert redeem(api, api.ticket()).status == 303


def test_the_client_can_receive_the_ticket_of_the_second_delivery():
    api = InProcess()
    deliver_twice(api, "second", call=TICKET, times=1)

    assert redeem(api, api.ticket()).status == 303


@pytest.mark.over_http
@pytest.mark.parametrize(("response", "replayed"), [("first", False), ("second", True)])
def test_the_second_delivery_of_a_new_key_is_a_replay(
    world: CheckedCalls, response: str, replayed: bool
):
    deliver_twice(world, response, call=KEY, times=1)

    created = world.create_key("ci", key="k")

    assert created.json["replayed"] is replayed
    assert (created.json["value"] is None) is replayed


@pytest.mark.over_http
@pytest.mark.parametrize("response", ["first", "second"])
def test_one_operation_begins_although_its_request_is_delivered_twice(
    world: CheckedCalls, response: str
):
    deliver_twice(world, response, call="apply_project_domains")

    operation = world.apply_domains().json

    assert world.apply_domains().json["blocking_operation_id"] == operation["id"]


def test_a_redemption_that_is_delivered_twice_is_refused_although_it_used_the_ticket():
    api = InProcess()
    ticket = api.ticket()
    deliver_twice(api, "second", call="redeem_ticket", times=1)

    assert redeem(api, ticket).status == 404
    assert redeem(api, ticket).status == 404
    assert api.record("dev_access_tickets", ticket.json["ticket_id"]).state == "used"


def test_the_key_of_the_first_delivery_is_no_longer_in_progress_at_the_second():
    api = InProcess(fresh_world(idempotency_in_flight="refuse"))
    deliver_twice(api, "second")

    assert api.apply_domains(key="k").status == 202


# --- Other faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize("response", ["first", "second"])
def test_other_faults_see_the_request_once(response: str):
    api = InProcess()
    deliver_twice(api, response)
    limit = api.add_fault(rate_limit={"limit": 3, "window": "60s"})

    statuses = [api.dns().status for _ in range(4)]

    assert statuses == [200, 200, 200, 429]
    fault = api.record("faults", limit)
    assert (fault.seen, fault.hits) == (4, 1)


@pytest.mark.parametrize("response", ["first", "second"])
def test_a_lost_response_is_that_of_the_delivery_that_the_client_would_receive(response: str):
    api = InProcess()
    deliver_twice(api, response, times=1)
    api.add_fault(connection_reset={}, after_commit=True, times=1)

    api.apply_domains(key="k")
    lost = {entry.n: entry.lost for entry in api.engine.log.after(0)}

    delivery = 1 if response == "first" else 2
    assert lost == {1: None, 2: None, delivery: "connection_reset"}


def test_a_request_that_a_fault_refuses_is_applied_by_its_second_delivery():
    api = InProcess()
    deliver_twice(api, "first", times=1)
    api.add_fault(abort={"code": "service_unavailable"}, times=1)
    count = len(api.records("operations"))

    assert api.apply_domains(key="k").status == 503
    assert len(api.records("operations")) == count + 1


def test_a_response_is_altered_that_the_client_receives():
    api = InProcess()
    deliver_twice(api, "second")
    api.add_fault(alter={"set": {"/revision": 7}, "breaking": True})

    assert api.dns().json["revision"] == 7
    assert [bool(entry.altered) for entry in api.engine.log.after(0)] == [False, True]


# --- What counts requests of clients -----------------------------------------------------------------


def test_the_rate_limit_of_the_service_does_not_count_the_second_delivery():
    api = InProcess(fresh_world(rate_limit="3/60s"))
    deliver_twice(api, "second")

    assert [api.dns().status for _ in range(4)] == [200, 200, 200, 429]


def test_a_poll_that_is_delivered_twice_moves_a_skip_clock_once():
    plain = InProcess(fresh_world(mode="skip"))
    plain.poll(plain.apply_domains().json["id"])
    api = InProcess(fresh_world(mode="skip"))
    deliver_twice(api, "second", call="get_operation")

    api.poll(api.apply_domains().json["id"])

    assert api.world.at_ms == plain.world.at_ms


def test_a_retry_waits_as_the_delivered_refusal_says():
    api = InProcess(fresh_world(mode="skip"))
    deliver_twice(api, "second", times=1)
    api.add_fault(abort={"code": "rate_limited", "retry_after_seconds": 30}, times=1)
    began_ms = api.engine.now_ms()

    assert api.dns().status == 429
    assert api.engine.now_ms() == began_ms
    assert api.dns().status == 200
    assert api.engine.now_ms() == began_ms + 30_000


def test_conduct_judges_the_client_by_the_response_that_it_received(client: JudgedWorld):
    deliver_twice(client, "second", times=1)
    client.add_fault(abort={"code": "rate_limited", "retry_after_seconds": 30}, times=1)

    assert client.dns().status == 429
    client.dns()

    assert client.broken_rules() == [("retried-too-soon", [1, 3])]
    assert client.conduct_report().judged == 2
    assert client.conduct_report().remarks == [
        "Not checked: 1 request that faults delivered a second time."
    ]


def test_conduct_does_not_blame_a_client_whose_ticket_a_second_delivery_voided(client: JudgedWorld):
    deliver_twice(client, "first", call=TICKET, times=1)

    ticket = client.ticket()
    redeem(client, ticket)

    assert client.broken_rules(final=True) == []


def test_conduct_does_not_blame_a_client_that_repeats_a_redemption_it_saw_refused(
    client: JudgedWorld,
):
    ticket = client.ticket()
    deliver_twice(client, "second", call="redeem_ticket", times=1)

    redeem(client, ticket)
    redeem(client, ticket)

    assert client.broken_rules(final=True) == []


@pytest.fixture
def client() -> JudgedWorld:
    """A client under watch in a world whose clock stands still."""
    return JudgedWorld()


# --- Log and explanations ------------------------------------------------------------------------------


def test_the_trail_tells_both_deliveries_apart(hosting_emulator: HostingEmulator):
    hosting_emulator.fault("deliver_twice", response="second", times=1)

    HttpWorld(hosting_emulator).dns()

    first = trail(hosting_emulator, 1)
    second = trail(hosting_emulator, 2)
    assert "delivered again, as #2. The client received the response to #2." in first
    assert "A fault sent this request, not a client: it is the second delivery of #1." in second
    assert "do not match" not in second


def test_the_log_marks_the_second_delivery(hosting_emulator: HostingEmulator):
    hosting_emulator.fault("deliver_twice", response="first", times=1)

    HttpWorld(hosting_emulator).dns()

    first, second = hosting_emulator.requests
    assert (first.second_delivery, first.second_delivery_of, first.discarded) == (2, None, None)
    assert (second.second_delivery, second.second_delivery_of, second.discarded) == (None, 1, True)
