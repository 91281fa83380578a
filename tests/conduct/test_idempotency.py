"""Rules about Idempotency-Keys: which uses are mistakes, and which are only careful."""

from copy import copy
from typing import Any

import pytest

from tests.support.judged_world import SECOND_MS, JudgedWorld

NEW_KEY = "new-key-after-uncertainty"
REUSED = "key-reused-for-another-request"
LOST: tuple[dict[str, Any], ...] = (
    {"connection_reset": {}, "after_commit": True},
    {"connection_reset": {}},
    {"timeout": {}, "after_commit": True},
    {"timeout": {}},
    {"truncate": {"bytes": 10}, "after_commit": True},
    {"malformed_response": {}},
    {"empty_response": {}},
    {"gateway_error": {"status": 502}, "after_commit": True},
    {"gateway_error": {"status": 504}},
    {"abort": {"code": "service_unavailable"}},
    {"abort": {"code": "api_key_creation_uncertain"}},
)


@pytest.mark.parametrize("call", ["set_flag", "initialize", "create_key", "apply_domains"])
def test_a_mutation_without_an_idempotency_key_is_a_finding(client: JudgedWorld, call: str):
    body = [True] if call == "set_flag" else []
    getattr(client, call)(*body, key=None)

    assert client.broken_rules() == [("missing-idempotency-key", [1])]


def test_many_mutations_without_a_key_are_one_finding(client: JudgedWorld):
    for _ in range(30):
        client.apply_domains(key=None)

    finding = next(f for f in client.findings() if f.rule == "missing-idempotency-key")
    assert (finding.requests, finding.more_requests) == (list(range(1, 21)), 10)


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: " ".join(map(str, fault)))
def test_an_uncertain_mutation_sent_with_a_new_key_is_a_finding(client: JudgedWorld, fault):
    client.fault(**fault)
    client.create_key(key="first")
    client.create_key(key="second")

    assert client.broken_rules() == [(NEW_KEY, [1, 2])]


@pytest.mark.parametrize("fault", LOST, ids=lambda fault: " ".join(map(str, fault)))
def test_an_uncertain_mutation_sent_with_the_same_key_is_no_finding(client: JudgedWorld, fault):
    client.fault(**fault)
    client.create_key(key="first")
    client.create_key(key="first")
    client.create_key(key="another")  # the outcome is known by now: this is another intent

    assert client.broken_rules() == []


@pytest.mark.parametrize(
    "fault",
    [
        {"abort": {"code": "rate_limited", "retry_after_seconds": 1}},
        {"abort": {"code": "forbidden"}},
        {"rate_limit": {"limit": 1, "window": "1m"}, "skip_first": 1},
    ],
)
def test_a_new_key_after_a_refusal_is_no_finding(client: JudgedWorld, fault):
    client.fault(**fault)
    client.apply_domains(key="first")
    client.pass_time(61)
    client.apply_domains(key="second")

    assert NEW_KEY not in dict(client.broken_rules())


def test_a_refused_retry_leaves_a_mutation_uncertain(client: JudgedWorld):
    client.lose_response()
    client.create_key(key="first")
    client.fault(abort={"code": "rate_limited"})
    client.create_key(key="first")
    client.create_key(key="second")

    assert (NEW_KEY, [1, 3]) in client.broken_rules()


def test_a_different_mutation_is_not_a_retry(client: JudgedWorld):
    client.lose_response()
    client.create_key("ci", key="first")
    client.create_key("laptop", key="second")
    client.create_key("ci", key="third", user="member")

    assert client.broken_rules() == []


def test_a_flag_that_was_switched_in_between_may_get_a_new_key(client: JudgedWorld):
    client.lose_response()
    client.set_flag(True, key="first")
    client.set_flag(False, key="second")
    client.set_flag(True, key="third")

    assert client.broken_rules() == []


def test_a_new_key_after_the_retention_time_is_no_finding():
    client = JudgedWorld(idempotency_retention="24h")
    client.lose_response()
    client.create_key(key="first")
    client.engine.move_by(24 * 3_600_000)
    client.create_key(key="second")

    assert client.broken_rules() == []


def test_a_retry_may_spell_its_json_body_differently(client: JudgedWorld):
    path = f"/v1/organizations/{client.organization_id()}/user-api-keys"
    client.lose_response()
    client.create_key("ci", key="first")
    headers = [("Authorization", f"Bearer {client.token()}"), ("Content-Type", "application/json")]
    client.send("POST", path, [*headers, ("Idempotency-Key", "second")], b'{ "name":"ci" }')

    assert client.broken_rules() == [(NEW_KEY, [1, 2])]


def test_a_new_key_before_a_late_response_arrives_is_a_finding(client: JudgedWorld):
    def give_up() -> None:
        client.pass_time(1)
        client.change_connection()
        client.apply_domains(key="second")

    path = f"/v1/projects/{client.project_id()}/domains"
    client.send_delayed(5000, "PUT", path, key="first", between=give_up)

    # The log lists requests in the order in which they arrived.
    assert client.broken_rules() == [(NEW_KEY, [1, 2])]
    assert client.engine.log.newest(1)[0].raw_headers[1] == (b"Idempotency-Key", b"second")


def test_a_new_key_after_a_late_response_arrived_is_no_finding(client: JudgedWorld):
    client.send_delayed(5000, "PUT", f"/v1/projects/{client.project_id()}/domains", key="first")
    client.apply_domains(key="second")

    assert client.broken_rules() == []


def test_a_worker_may_send_its_own_request_while_another_waits_for_a_late_response(
    client: JudgedWorld,
):
    def another_worker() -> None:
        client.pass_time(1)
        client.connection = 2
        client.apply_domains(key="second")
        client.connection = 1

    client.connection = 1
    client.send_delayed(
        5000,
        "PUT",
        f"/v1/projects/{client.project_id()}/domains",
        key="first",
        between=another_worker,
    )

    assert client.broken_rules() == []


def test_a_new_key_that_the_problem_suggests_is_no_finding(client: JudgedWorld):
    client.lose_response()
    client.apply_domains(key="first")
    client.fault(abort={"code": "idempotency_key_reused"})
    assert "new key" in client.apply_domains(key="first").json["suggested_action"]
    client.apply_domains(key="second")

    assert client.broken_rules() == []


def test_a_finding_ends_when_the_first_key_is_retried(client: JudgedWorld):
    client.lose_response()
    client.create_key(key="first")
    client.create_key(key="second")
    assert client.broken_rules() == [(NEW_KEY, [1, 2])]

    client.create_key(key="first")
    conduct = client.conduct_report()
    assert (conduct.findings, conduct.counts) == ([], {})


@pytest.mark.parametrize("in_world_time", [True, False])
def test_a_new_key_hours_later_is_no_finding(client: JudgedWorld, in_world_time: bool):
    client.lose_response()
    client.apply_domains(key="first")
    if in_world_time:
        client.engine.move_by(12 * 3_600_000)
    else:
        client.pass_time(12 * 3600)
    client.apply_domains(key="second")

    assert client.broken_rules() == []


def test_an_uncertain_creation_is_uncertain_with_any_status():
    client = JudgedWorld(problem_statuses={"api_key_creation_uncertain": 409})
    client.fault(abort={"code": "api_key_creation_uncertain"})
    assert client.create_key(key="first").status == 409
    client.create_key(key="second")

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (NEW_KEY, [1, 2])
    assert "got 409 with the key 'first'" in finding.message


@pytest.mark.parametrize(("second", "broken"), [("first", 0), ("second", 1)])
def test_an_escaped_path_is_the_same_request(client: JudgedWorld, second: str, broken: int):
    path = f"/v1/projects/{client.project_id()}/source%3Ainitialize"
    client.lose_response()
    client.initialize(1, key="first")
    client.call("POST", path, key=second, body={"expected_source_generation": 1})

    assert [rule for rule, _ in client.broken_rules()] == [NEW_KEY] * broken


@pytest.mark.parametrize(("after_s", "severity"), [(300, "note"), (30, "error")])
def test_a_new_key_five_minutes_later_is_only_a_note(
    client: JudgedWorld, after_s: int, severity: str
):
    client.fault(abort={"code": "service_unavailable"})
    client.connection = 1
    client.apply_domains(key="first")
    client.engine.move_by(after_s * 1000)
    client.connection = 2
    client.apply_domains(key="second")

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (NEW_KEY, severity)
    assert finding.place == "contract, section Endpoints, operation 4"
    assert "idempotent durable operation" in finding.because


def test_another_api_key_after_its_value_was_lost_is_no_finding(client: JudgedWorld):
    client.lose_response()
    client.create_key("ci", key="first")
    assert client.create_key("ci", key="first").json["value"] is None
    client.create_key("ci 2", key="second")

    assert client.broken_rules(final=True) == []


@pytest.mark.parametrize(("second_key", "broken"), [("second", 1), ("first", 0)])
def test_the_same_mutation_with_two_keys_at_once_is_a_note(
    client: JudgedWorld, second_key: str, broken: int
):
    for connection, key in ((1, "first"), (2, second_key)):
        client.connection = connection
        client.create_key(key=key)
        client.pass_time(0.1)

    findings = client.findings()
    assert [(f.rule, f.severity) for f in findings] == [("sent-twice-at-once", "note")] * broken


def test_the_same_mutation_with_another_key_after_the_clock_moved_is_no_finding(
    client: JudgedWorld,
):
    for connection, key in ((1, "first"), (2, "second")):
        client.connection = connection
        client.create_key(key=key)
        client.engine.move_by(SECOND_MS)

    assert client.broken_rules() == []


def test_the_same_mutation_with_another_key_in_sequence_is_no_finding(client: JudgedWorld):
    for connection, key in ((1, "first"), (1, "second"), (2, "third")):
        client.connection = connection
        client.create_key(key=key)
        client.pass_time(1 if key == "second" else 0)

    assert client.broken_rules() == []


OUTLIVES = "key-outlives-intent"


def test_a_key_derived_from_the_body_outlives_its_intent(client: JudgedWorld):
    client.set_flag(True, key="on")
    client.set_flag(False, key="off")
    assert (
        client.set_flag(True, key="on").json["enabled"] is True
    )  # although the flag is hidden by now

    (finding,) = client.findings()
    assert (finding.rule, finding.severity, finding.requests) == (OUTLIVES, "warning", [1, 2, 3])


def test_a_late_retry_of_a_lost_mutation_does_not_outlive_its_intent(client: JudgedWorld):
    client.lose_response()
    client.set_flag(True, key="on")
    client.set_flag(False, key="off")
    client.set_flag(True, key="on")

    assert OUTLIVES not in dict(client.broken_rules())


def test_an_equal_mutation_in_between_makes_no_key_outlive_its_intent(client: JudgedWorld):
    client.set_flag(True, key="a")
    client.set_flag(True, key="b")
    client.set_flag(True, key="a")

    assert client.broken_rules() == []


# --- Reused keys ----------------------------------------------------------------------------------


def test_a_key_reused_for_another_request_is_a_finding(client: JudgedWorld):
    client.set_flag(True, key="a")
    client.set_flag(False, key="a")
    client.apply_domains(key="a")

    (finding,) = client.findings()
    assert (finding.rule, finding.requests, finding.severity) == (REUSED, [1, 2, 3], "error")


def test_two_users_may_use_the_same_key(client: JudgedWorld):
    client.create_key("ci", key="a")
    client.create_key("laptop", key="a", user="member")

    assert client.broken_rules() == []


def test_a_key_is_reused_only_within_the_assumed_scope():
    client = JudgedWorld(idempotency_scope="principal_and_call")
    client.create_key("ci", key="a")
    client.apply_domains(key="a")
    assert client.broken_rules() == []

    client.create_key("laptop", key="a")
    assert client.broken_rules() == [(REUSED, [1, 3])]


def test_reusing_the_key_of_a_refused_request_is_a_note(client: JudgedWorld):
    client.set_flag("yes", key="a")
    client.set_flag(True, key="a")

    assert [(finding.rule, finding.severity) for finding in client.findings()] == [(REUSED, "note")]


class AllUnderWay(dict[str, Any]):
    """The requests in flight of an engine that is processing a request with every key."""

    def setdefault(self, _: str, request: Any = None) -> Any:
        return copy(request)


def test_a_retry_after_a_refusal_in_flight_is_no_reuse():
    client = JudgedWorld(idempotency_in_flight="refuse")
    client.engine.in_flight = AllUnderWay()
    assert client.apply_domains(key="a").json["code"] == "service_unavailable"
    client.engine.in_flight = {}
    client.apply_domains(key="a")

    assert REUSED not in dict(client.broken_rules())
