"""Idempotency-Keys: what is a mistake with them, and what is only care."""

from copy import copy
from typing import Any

import pytest

from tests.support.watched_client import SECOND_MS, Watched

NEW_KEY = "new-key-after-uncertainty"
REUSED = "key-reused-for-another-request"
LOST: tuple[dict[str, Any], ...] = (
    {"connection_reset": {}, "phase": "after_commit"},
    {"connection_reset": {}},
    {"timeout": {}, "phase": "after_commit"},
    {"timeout": {}},
    {"truncate": {"bytes": 10}, "phase": "after_commit"},
    {"malformed_response": {}},
    {"empty_response": {}},
    {"gateway_error": {"status": 502}, "phase": "after_commit"},
    {"gateway_error": {"status": 504}},
    {"abort": {"code": "service_unavailable"}},
    {"abort": {"code": "api_key_creation_uncertain"}},
)


@pytest.fixture
def api() -> Watched:
    return Watched()


@pytest.mark.parametrize("call", ["set_flag", "initialize", "create_key", "apply_domains"])
def test_a_mutation_needs_a_key(api: Watched, call: str):
    body = [True] if call == "set_flag" else []
    getattr(api, call)(*body, key=None)

    assert api.broken() == [("missing-idempotency-key", [1])]


def test_one_client_that_never_has_a_key_is_one_finding(api: Watched):
    for _ in range(30):
        api.apply_domains(key=None)

    found = next(f for f in api.findings() if f.rule == "missing-idempotency-key")
    assert (found.requests, found.more_requests) == (list(range(1, 21)), 10)


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: " ".join(map(str, fault)))
def test_an_uncertain_mutation_is_not_sent_under_a_new_key(api: Watched, fault):
    api.fault(**fault)
    api.create_key(key="first")
    api.create_key(key="second")

    assert api.broken() == [(NEW_KEY, [1, 2])]


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: " ".join(map(str, fault)))
def test_the_same_key_again_is_right(api: Watched, fault):
    api.fault(**fault)
    api.create_key(key="first")
    api.create_key(key="first")
    api.create_key(key="another")  # its outcome is known by now: this is another wish

    assert api.broken() == []


@pytest.mark.parametrize(
    "fault",
    [
        {"abort": {"code": "rate_limited", "retry_after_seconds": 1}},
        {"abort": {"code": "forbidden"}},
        {"rate_limit": {"limit": 1, "window": "1m"}, "skip_first": 1},
    ],
)
def test_a_refusal_is_certain(api: Watched, fault):
    api.fault(**fault)
    api.apply_domains(key="first")
    api.pass_time(61)
    api.apply_domains(key="second")

    assert NEW_KEY not in dict(api.broken())


def test_a_retry_that_learns_nothing_leaves_it_uncertain(api: Watched):
    api.lose()
    api.create_key(key="first")
    api.fault(abort={"code": "rate_limited"})
    api.create_key(key="first")
    api.create_key(key="second")

    assert (NEW_KEY, [1, 3]) in api.broken()


def test_another_wish_is_not_a_retry(api: Watched):
    api.lose()
    api.create_key("ci", key="first")
    api.create_key("laptop", key="second")
    api.create_key("ci", key="third", who="member")

    assert api.broken() == []


def test_a_flag_that_was_switched_since_is_another_wish(api: Watched):
    api.lose()
    api.set_flag(True, key="first")
    api.set_flag(False, key="second")
    api.set_flag(True, key="third")

    assert api.broken() == []


def test_a_key_is_no_use_once_it_is_forgotten():
    api = Watched(idempotency_retention="24h")
    api.lose()
    api.create_key(key="first")
    api.engine.move_by(24 * 3_600_000)
    api.create_key(key="second")

    assert api.broken() == []


def test_a_spelling_of_the_body_does_not_make_another_request(api: Watched):
    path = f"/v1/organizations/{api.organization()}/user-api-keys"
    api.lose()
    api.create_key("ci", key="first")
    sent = [("Authorization", f"Bearer {api.token()}"), ("Content-Type", "application/json")]
    api.send("POST", path, [*sent, ("Idempotency-Key", "second")], b'{ "name":"ci" }')

    assert api.broken() == [(NEW_KEY, [1, 2])]


def test_whoever_does_not_wait_for_a_late_answer_cannot_know_it(api: Watched):
    def give_up() -> None:
        api.pass_time(1)
        api.next_connection()
        api.apply_domains(key="second")

    path = f"/v1/projects/{api.project()}/domains"
    api.send_late(5000, "PUT", path, key="first", between=give_up)

    # The log lists requests in the order in which they arrived.
    assert api.broken() == [(NEW_KEY, [1, 2])]
    assert api.engine.log.newest(1)[0].raw_headers[1] == (b"Idempotency-Key", b"second")


def test_whoever_waits_for_a_late_answer_may_wish_for_more(api: Watched):
    api.send_late(5000, "PUT", f"/v1/projects/{api.project()}/domains", key="first")
    api.apply_domains(key="second")

    assert api.broken() == []


def test_a_worker_may_send_its_own_request_while_another_waits_for_a_late_response(api: Watched):
    def another_worker() -> None:
        api.pass_time(1)
        api.connection = 2
        api.apply_domains(key="second")
        api.connection = 1

    api.connection = 1
    api.send_late(
        5000, "PUT", f"/v1/projects/{api.project()}/domains", key="first", between=another_worker
    )

    assert api.broken() == []


def test_to_do_as_the_problem_suggests_is_right(api: Watched):
    api.lose()
    api.apply_domains(key="first")
    api.fault(abort={"code": "idempotency_key_reused"})
    assert "new key" in api.apply_domains(key="first").json["suggested_action"]
    api.apply_domains(key="second")

    assert api.broken() == []


def test_workers_that_each_retry_their_own_are_accused_no_longer(api: Watched):
    api.lose()
    api.create_key(key="first")
    api.create_key(key="second")
    assert api.broken() == [(NEW_KEY, [1, 2])]

    api.create_key(key="first")
    conduct = api.look()
    assert (conduct.findings, conduct.counts) == ([], {})


@pytest.mark.parametrize("in_world_time", [True, False])
def test_hours_later_it_is_another_wish(api: Watched, in_world_time: bool):
    api.lose()
    api.apply_domains(key="first")
    if in_world_time:
        api.engine.move_by(12 * 3_600_000)
    else:
        api.pass_time(12 * 3600)
    api.apply_domains(key="second")

    assert api.broken() == []


def test_uncertain_is_uncertain_at_any_status():
    api = Watched(problem_statuses={"api_key_creation_uncertain": 409})
    api.fault(abort={"code": "api_key_creation_uncertain"})
    assert api.create_key(key="first").status == 409
    api.create_key(key="second")

    (found,) = api.findings()
    assert (found.rule, found.requests) == (NEW_KEY, [1, 2])
    assert "got 409 with the key 'first'" in found.says


@pytest.mark.parametrize(("second", "broken"), [("first", 0), ("second", 1)])
def test_a_path_is_the_same_however_it_is_spelled(api: Watched, second: str, broken: int):
    path = f"/v1/projects/{api.project()}/source%3Ainitialize"
    api.lose()
    api.initialize(1, key="first")
    api.call("POST", path, key=second, body={"expected_source_generation": 1})

    assert [rule for rule, _ in api.broken()] == [NEW_KEY] * broken


@pytest.mark.parametrize(("after_s", "severity"), [(300, "note"), (30, "error")])
def test_a_job_of_every_five_minutes_begins_anew(api: Watched, after_s: int, severity: str):
    api.fault(abort={"code": "service_unavailable"})
    api.connection = 1
    api.apply_domains(key="first")
    api.engine.move_by(after_s * 1000)
    api.connection = 2
    api.apply_domains(key="second")

    (found,) = api.findings()
    assert (found.rule, found.severity) == (NEW_KEY, severity)
    assert found["place"] == "the contract, Endpoints, 4"
    assert "idempotent durable operation" in found["because"]


def test_a_key_under_a_new_name_after_its_value_was_lost_is_as_it_should_be(api: Watched):
    api.lose()
    api.create_key("ci", key="first")
    assert api.create_key("ci", key="first").json["value"] is None
    api.create_key("ci 2", key="second")

    assert api.broken(final=True) == []


@pytest.mark.parametrize(("other", "broken"), [("second", 1), ("first", 0)])
def test_the_same_under_two_keys_at_once_is_done_twice(api: Watched, other: str, broken: int):
    for connection, key in ((1, "first"), (2, other)):
        api.connection = connection
        api.create_key(key=key)
        api.pass_time(0.1)

    findings = api.findings()
    assert [(f.rule, f.severity) for f in findings] == [("sent-twice-at-once", "note")] * broken


def test_the_same_after_time_was_moved_is_wished_for_twice(api: Watched):
    for connection, key in ((1, "first"), (2, "second")):
        api.connection = connection
        api.create_key(key=key)
        api.engine.move_by(SECOND_MS)

    assert api.broken() == []


def test_one_after_the_other_is_wished_for_twice(api: Watched):
    for connection, key in ((1, "first"), (1, "second"), (2, "third")):
        api.connection = connection
        api.create_key(key=key)
        api.pass_time(1 if key == "second" else 0)

    assert api.broken() == []


OUTLIVES = "key-outlives-intent"


def test_a_key_that_is_made_of_what_is_wished_for_outlives_the_wish(api: Watched):
    api.set_flag(True, key="on")
    api.set_flag(False, key="off")
    assert api.set_flag(True, key="on").json["enabled"] is True  # which it is not

    (found,) = api.findings()
    assert (found.rule, found.severity, found.requests) == (OUTLIVES, "warning", [1, 2, 3])
    assert "sent with the key 'on' (#1)" in found.says


def test_who_asks_again_for_what_it_did_not_hear_may_have_lost_time(api: Watched):
    api.lose()
    api.set_flag(True, key="on")
    api.set_flag(False, key="off")
    api.set_flag(True, key="on")

    assert OUTLIVES not in dict(api.broken())


def test_the_same_again_under_another_key_changes_nothing_in_between(api: Watched):
    api.set_flag(True, key="a")
    api.set_flag(True, key="b")
    api.set_flag(True, key="a")

    assert api.broken() == []


# --- Keys used again ------------------------------------------------------------------------------


def test_a_key_is_for_one_thing(api: Watched):
    api.set_flag(True, key="a")
    api.set_flag(False, key="a")
    api.apply_domains(key="a")

    (found,) = api.findings()
    assert (found.rule, found.requests, found.severity) == (REUSED, [1, 2, 3], "error")
    assert found.says == (
        "The key 'a' of set_project_powered_by_flag (#1) was reused with another "
        "body (set_project_powered_by_flag, #2)."
    )


def test_each_person_has_keys_of_their_own(api: Watched):
    api.create_key("ci", key="a")
    api.create_key("laptop", key="a", who="member")

    assert api.broken() == []


def test_a_key_per_call_where_that_is_assumed():
    api = Watched(idempotency_scope="principal_and_call")
    api.create_key("ci", key="a")
    api.apply_domains(key="a")
    assert api.broken() == []

    api.create_key("laptop", key="a")
    assert api.broken() == [(REUSED, [1, 3])]


def test_whether_a_refused_key_is_free_is_open(api: Watched):
    api.set_flag("yes", key="a")
    api.set_flag(True, key="a")

    assert [(found.rule, found.severity) for found in api.findings()] == [(REUSED, "note")]


class AllUnderWay(dict[str, Any]):
    """Stands for an engine that is just answering a first request with every key."""

    def setdefault(self, _: str, request: Any = None) -> Any:
        return copy(request)


def test_a_second_attempt_while_the_first_is_under_way_is_the_same_request():
    api = Watched(idempotency_in_flight="refuse")
    api.engine.in_flight = AllUnderWay()
    assert api.apply_domains(key="a").json["code"] == "service_unavailable"
    api.engine.in_flight = {}
    api.apply_domains(key="a")

    assert REUSED not in dict(api.broken())
