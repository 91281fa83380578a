"""Rules about retries: not of what cannot succeed, and not before Retry-After."""

import pytest

from tests.support.judged_world import JudgedWorld

IN_VAIN = "retried-not-retryable"
TOO_SOON = "retried-too-soon"
NOWHERE = "0" * 26
LIMITED = {"abort": {"code": "rate_limited", "retry_after_seconds": 5}}


def test_retrying_a_request_that_is_not_retryable_is_a_finding(client: JudgedWorld):
    for _ in range(3):
        client.poll(NOWHERE)

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (IN_VAIN, [1, 2, 3])


def test_retrying_a_refused_mutation_with_a_new_key_is_a_finding(client: JudgedWorld):
    client.set_flag(True, user="reader")
    client.set_flag(True, user="reader")

    assert client.broken_rules() == [(IN_VAIN, [1, 2])]


def test_a_changed_body_user_or_token_is_not_a_retry(client: JudgedWorld):
    client.set_flag("yes", key="a")
    client.set_flag("no", key="b")
    client.dns(user="outsider")
    client.dns(user="no-organization")
    client.dns(token="stale")
    client.dns(token="staler")

    assert client.broken_rules() == []


def test_a_new_key_after_a_reused_key_is_no_finding(client: JudgedWorld):
    client.set_flag(True, key="a")
    client.set_flag(False, key="a")
    client.set_flag(False, key="b")

    assert IN_VAIN not in dict(client.broken_rules())


def test_retrying_after_a_lost_refusal_is_no_finding(client: JudgedWorld):
    client.fault(connection_reset={})
    client.poll(NOWHERE)
    client.poll(NOWHERE)

    assert client.broken_rules() == []


@pytest.mark.parametrize("status", [429, 503, 409])
def test_a_rate_limit_of_any_status_must_be_waited_for(client: JudgedWorld, status: int):
    client.fault(abort={"code": "rate_limited", "status": status, "retry_after_seconds": 5})
    client.dns()
    client.dns()

    assert client.broken_rules() == [(TOO_SOON, [1, 2])]


def test_retrying_a_retryable_problem_is_no_finding(client: JudgedWorld):
    client.fault(abort={"code": "service_unavailable"}, times=3)
    for _ in range(4):
        client.dns()

    assert client.broken_rules() == []


def test_the_same_refused_request_ten_minutes_later_is_no_retry(client: JudgedWorld):
    client.poll(NOWHERE)
    client.pass_time(600)
    client.poll(NOWHERE)

    assert client.broken_rules() == []


def test_the_same_refused_read_after_another_request_is_no_retry(client: JudgedWorld):
    client.poll(NOWHERE)
    client.dns()
    client.poll(NOWHERE)

    assert client.broken_rules() == []


def test_a_new_key_does_not_excuse_retrying_a_refused_body(client: JudgedWorld):
    for key in ("a", "b", "c"):
        client.set_flag("yes", key=key)

    assert client.broken_rules() == [(IN_VAIN, [1, 2, 3])]


@pytest.mark.parametrize("key", [None, "", "k" * 129])
def test_a_valid_key_after_an_invalid_key_is_no_retry(client: JudgedWorld, key: str | None):
    client.set_flag("yes", key=key)
    client.set_flag("yes", key="b")

    assert IN_VAIN not in dict(client.broken_rules())


def test_retrying_a_refused_mutation_between_reads_is_a_finding(client: JudgedWorld):
    for _ in range(3):
        assert client.initialize(99).json["code"] == "etag_mismatch"
        client.dns()

    assert client.broken_rules() == [(IN_VAIN, [1, 3, 5])]


def test_retrying_a_refused_mutation_after_a_change_is_no_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.initialize(99)
    client.set_flag(True)
    client.initialize(99)
    client.engine.move_by(20_000)
    assert client.poll(operation).json["state"] == "succeeded"
    client.initialize(99)

    assert client.broken_rules() == []


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_repeated_head_and_options_requests_are_no_finding(client: JudgedWorld, method: str):
    for _ in range(2):
        assert client.call(method, f"/v1/projects/{client.project_id()}/edge-dns").status == 405

    assert client.broken_rules() == []


def test_the_same_refused_read_every_minute_is_no_finding(client: JudgedWorld):
    for _ in range(3):
        client.dns(user="outsider")
        client.engine.move_by(60_000)

    assert client.broken_rules() == []


# --- Retry-After ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["rate_limited", "service_unavailable"])
def test_a_retry_before_retry_after_is_a_finding(client: JudgedWorld, code: str):
    client.fault(abort={"code": code, "retry_after_seconds": 5})
    client.dns()
    client.pass_time(4.9)
    client.dns()

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (TOO_SOON, [1, 2])
    assert "Retry-After: 5" in finding.message
    assert "after 4.90 s" in finding.message


def test_a_client_may_wait_for_retry_after_in_real_time(client: JudgedWorld):
    client.fault(**LIMITED)
    client.dns()
    client.pass_time(5)
    client.dns()

    assert client.broken_rules() == []


def test_a_timer_that_ends_a_moment_early_is_no_finding(client: JudgedWorld):
    client.fault(**LIMITED)
    client.dns()
    client.pass_time(4.99)
    client.dns()

    assert client.broken_rules() == []


@pytest.mark.parametrize(("advance_ms", "broken"), [(5000, 0), (4999, 1)])
def test_a_client_may_wait_for_retry_after_in_world_time(
    client: JudgedWorld, advance_ms: int, broken: int
):
    client.fault(**LIMITED)
    client.dns()
    client.engine.move_by(advance_ms)
    client.dns()

    assert len(client.broken_rules()) == broken


def test_waiting_for_the_rate_limit_of_the_world_is_no_finding():
    client = JudgedWorld("real", rate_limit="1/10s")
    client.dns()
    wait_s = int(client.dns().headers["Retry-After"])
    client.pass_time(wait_s)

    assert client.dns().status == 200
    assert client.broken_rules() == []


def test_a_loop_without_waiting_is_one_finding(client: JudgedWorld):
    client.fault(abort={"code": "rate_limited", "retry_after_seconds": 5}, times=3)
    for _ in range(4):
        client.dns()

    (finding,) = client.findings()
    assert finding.requests == [1, 2, 3, 4]


def test_retry_after_of_a_503_concerns_only_the_same_request(client: JudgedWorld):
    client.fault(abort={"code": "service_unavailable", "retry_after_seconds": 5})
    client.deployments("?limit=5")
    client.pass_time(1)
    client.deployments("?limit=1")
    client.dns()
    client.deployments("?limit=5", user="reader")

    assert client.broken_rules() == []


def test_another_kind_of_request_is_no_retry_of_a_rate_limited_request(client: JudgedWorld):
    client.fault(**LIMITED)
    client.dns()
    client.pass_time(1)
    client.deployments()
    client.dns(user="reader")
    client.dns(token=client.token(interactive=False))

    assert client.broken_rules() == []


def test_a_rate_limited_request_is_retried_although_others_came_between(client: JudgedWorld):
    client.fault(**LIMITED)
    client.dns()
    client.deployments()
    client.dns()

    assert client.broken_rules() == [(TOO_SOON, [1, 3])]


def test_many_different_requests_within_a_rate_limit_are_a_finding(client: JudgedWorld):
    client.fault(**LIMITED | {"times": 30})
    for size in range(1, 20):
        client.deployments(f"?limit={size}")
        client.pass_time(0.1)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (TOO_SOON, "warning")


@pytest.mark.parametrize(("mode", "rate"), [("frozen", None), ("scaled", 100)])
def test_requests_already_sent_when_a_limit_arrives_are_no_finding(mode: str, rate: float | None):
    client = JudgedWorld(mode, rate)
    client.fault(**LIMITED)
    for connection, ask in enumerate((client.dns, client.deployments, client.dns), 1):
        client.connection = connection
        ask()
        client.pass_time(0.01)  # one second in a world whose time is a hundred times as fast
    client.pass_time(5)
    client.deployments()

    assert client.broken_rules() == []


def test_a_rate_limit_concerns_only_the_connection_that_received_it(client: JudgedWorld):
    for connection in (1, 2):
        client.connection = connection
        client.dns()
    client.fault(**LIMITED)
    for connection, asks in ((1, 1), (2, 3)):
        client.connection = connection
        for _ in range(asks):
            client.dns()
            client.pass_time(1)

    assert client.broken_rules() == []


@pytest.mark.parametrize(
    ("path", "findings"), [("edge-dns", [(TOO_SOON, "warning")]), ("deployments", [])]
)
def test_the_same_request_on_a_new_connection_is_a_retry(
    client: JudgedWorld, path: str, findings: list[tuple[str, str]]
):
    client.fault(**LIMITED)
    for connection, resource in ((1, "edge-dns"), (2, path)):
        client.connection = connection
        client.call("GET", f"/v1/projects/{client.project_id()}/{resource}")
        client.pass_time(1)

    assert [(finding.rule, finding.severity) for finding in client.findings()] == findings


def test_two_simultaneous_reads_of_a_missing_resource_are_no_retry(client: JudgedWorld):
    for connection in (1, 2):
        client.connection = connection
        client.poll(NOWHERE)
        client.pass_time(0.03)

    assert client.broken_rules() == []


# --- A connection for each request -----------------------------------------------------------------


@pytest.mark.parametrize(("attempts", "severities"), [(2, ["warning"]), (3, ["warning"])])
@pytest.mark.parametrize(
    ("fault", "rule"), [(LIMITED, TOO_SOON), ({"abort": {"code": "forbidden"}}, IN_VAIN)]
)
def test_the_same_key_on_successive_connections_is_a_retry(
    client: JudgedWorld, fault: dict[str, object], rule: str, attempts: int, severities: list[str]
):
    client.fault(**fault, times=9)
    for _ in range(attempts):
        client.change_connection()
        client.apply_domains(key="a")
        client.pass_time(0.002)

    findings = client.findings()
    assert [finding.rule for finding in findings] == [rule]
    assert [finding.severity for finding in findings] == severities


def test_the_same_key_on_open_connections_may_come_from_two_workers(client: JudgedWorld):
    client.fault(abort={"code": "forbidden"}, times=3)
    for connection in (1, 2, 3):
        client.connection = connection
        client.apply_domains(key="a")
        client.pass_time(0.002)

    assert client.broken_rules() == []


@pytest.mark.parametrize(
    ("asks", "severities"), [(4, ["note"]), (8, ["warning"]), (20, ["warning"])]
)
def test_many_refused_reads_on_successive_connections_are_a_warning(
    client: JudgedWorld, asks: int, severities: list[str]
):
    for _ in range(asks):
        client.change_connection()
        client.poll(NOWHERE)
        client.pass_time(0.012)

    assert [finding.severity for finding in client.findings()] == severities


def test_four_rate_limited_reads_on_successive_connections_are_only_a_note(client: JudgedWorld):
    client.fault(**LIMITED | {"times": 4})
    for _ in range(4):
        client.change_connection()
        client.deployments()
        client.pass_time(0.01)

    assert [finding.severity for finding in client.findings()] == ["note"]


@pytest.mark.parametrize("fault", [{"abort": {"code": "forbidden"}}, LIMITED])
def test_two_refused_mutations_with_different_keys_are_only_a_note(
    client: JudgedWorld, fault: dict[str, object]
):
    client.fault(**fault, times=2)
    for key in ("a", "b"):
        client.change_connection()
        client.apply_domains(key=key)
        client.pass_time(0.3)

    assert [finding.severity for finding in client.findings()] == ["note"]


@pytest.mark.parametrize(("attempts", "severity"), [(2, "note"), (4, "warning")])
def test_refused_mutations_with_a_key_and_a_connection_each_are_a_warning_when_repeated(
    client: JudgedWorld, attempts: int, severity: str
):
    client.fault(abort={"code": "forbidden"}, times=attempts)
    for number in range(attempts):
        client.change_connection()
        client.apply_domains(key=f"key-{number}")
        client.pass_time(1.5)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == ("retried-not-retryable", severity)


def test_two_workers_of_a_pool_that_were_refused_once_each_are_only_a_note(client: JudgedWorld):
    client.fault(**LIMITED | {"times": 2})
    client.fault(abort={"code": "forbidden"}, times=2)
    for connection in (1, 2):
        client.connection = connection
        assert client.dns().status == 429
    client.pass_time(60)
    for _ in range(2):
        assert client.dns().status == 403
        client.pass_time(0.03)

    assert {finding.severity for finding in client.findings()} == {"note"}


@pytest.mark.parametrize(("worker_count", "severity"), [(4, "note"), (12, "warning")])
def test_workers_with_their_own_keys_that_share_a_rate_limit_are_only_a_note(
    client: JudgedWorld, worker_count: int, severity: str
):
    client.fault(**LIMITED | {"times": worker_count})
    for number in range(worker_count):
        client.change_connection()
        client.apply_domains(key=f"key-{number}")
        client.pass_time(1.5)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (TOO_SOON, severity)


@pytest.mark.parametrize(
    ("keys", "severity"),
    [(["a", "b"], "note"), (["a", "b", "c"], "warning"), (["a", "a"], "warning")],
    ids=["two changes", "a new key for each attempt", "one change"],
)
def test_an_early_mutation_with_another_key_is_a_note_until_it_is_repeated(
    client: JudgedWorld, keys: list[str], severity: str
):
    client.fault(**LIMITED | {"times": len(keys)})
    for key in keys:
        client.apply_domains(key=key)
        client.pass_time(0.1)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (TOO_SOON, severity)


def test_early_retries_are_counted_anew_after_a_wait_that_was_kept(client: JudgedWorld):
    for connection in (1, 2, 1):  # a pool of two workers
        client.connection = connection
        client.dns()

    for _ in range(2):
        client.fault(**LIMITED | {"times": 2})
        assert [client.deployments().status for _ in range(2)] == [429, 429]
        client.pass_time(60)
        assert client.deployments().status == 200

    early = [finding for finding in client.findings() if finding.rule == TOO_SOON]
    assert {finding.severity for finding in early} == {"note"}


# --- Without Retry-After --------------------------------------------------------------------------


@pytest.mark.parametrize(("each_s", "broken"), [(0.01, 1), (0.5, 0)])
@pytest.mark.parametrize("connections", [1, 99])
def test_many_retries_without_a_pause_are_a_finding(
    client: JudgedWorld, each_s: float, broken: int, connections: int
):
    client.fault(abort={"code": "service_unavailable"}, times=30)
    for number in range(30):
        client.connection = number % connections
        assert client.dns().status == 503
        client.pass_time(each_s)

    findings = client.findings()
    assert [(finding.rule, finding.severity) for finding in findings] == [
        (TOO_SOON, "warning")
    ] * broken
    assert all(
        "get_dns_authorization failed (#1: 503), and was sent" in f.message for f in findings
    )


def test_a_few_retries_without_a_pause_are_no_finding(client: JudgedWorld):
    client.fault(abort={"code": "service_unavailable"}, times=9)
    for _ in range(20):
        client.dns()

    assert client.broken_rules() == []


def test_a_retry_after_in_a_lost_response_requests_no_wait(client: JudgedWorld):
    client.fault(**LIMITED)
    client.fault(truncate={"bytes": 5})
    client.fault(latency={"delay_ms": 3000}, after_commit=True)
    client.dns()
    first = client.engine.log.newest(1)[0]
    first.lost = "truncate"  # as if the connection had ended early
    client.dns()

    assert client.broken_rules() == []
