"""Trying again: in vain, too soon, or as one should."""

import pytest

from tests.support.watched_client import Watched

IN_VAIN = "retried-not-retryable"
TOO_SOON = "retried-too-soon"
NOWHERE = "0" * 26
LIMITED = {"abort": {"code": "rate_limited", "retry_after_seconds": 5}}


@pytest.fixture
def api() -> Watched:
    return Watched()


def test_what_is_refused_for_good_is_not_sent_again(api: Watched):
    for _ in range(3):
        api.poll(NOWHERE)

    (found,) = api.findings()
    assert (found.rule, found.requests) == (IN_VAIN, [1, 2, 3])


def test_a_mutation_under_a_new_key_is_in_vain_all_the_same(api: Watched):
    api.set_flag(True, who="reader")
    api.set_flag(True, who="reader")

    assert api.broken() == [(IN_VAIN, [1, 2])]


def test_something_else_changed(api: Watched):
    api.set_flag("yes", key="a")
    api.set_flag("no", key="b")
    api.dns(who="outsider")
    api.dns(who="no-organization")
    api.dns(token="stale")
    api.dns(token="staler")

    assert api.broken() == []


def test_another_key_is_what_a_used_one_needs(api: Watched):
    api.set_flag(True, key="a")
    api.set_flag(False, key="a")
    api.set_flag(False, key="b")

    assert IN_VAIN not in dict(api.broken())


def test_a_refusal_that_was_not_heard_of_may_be_asked_for_again(api: Watched):
    api.fault(connection_reset={})
    api.poll(NOWHERE)
    api.poll(NOWHERE)

    assert api.broken() == []


def test_what_is_retryable_may_be_retried(api: Watched):
    api.fault(abort={"code": "service_unavailable"}, times=3)
    for _ in range(4):
        api.dns()

    assert api.broken() == []


def test_another_day_is_another_attempt(api: Watched):
    api.poll(NOWHERE)
    api.pass_time(600)
    api.poll(NOWHERE)

    assert api.broken() == []


def test_an_attempt_in_between_makes_it_no_loop(api: Watched):
    api.poll(NOWHERE)
    api.dns()
    api.poll(NOWHERE)

    assert api.broken() == []


def test_another_key_does_not_mend_a_body(api: Watched):
    for key in ("a", "b", "c"):
        api.set_flag("yes", key=key)

    assert api.broken() == [(IN_VAIN, [1, 2, 3])]


@pytest.mark.parametrize("key", [None, "", "k" * 129])
def test_another_key_mends_a_bad_one(api: Watched, key: str | None):
    api.set_flag("yes", key=key)
    api.set_flag("yes", key="b")

    assert IN_VAIN not in dict(api.broken())


def test_reads_in_between_do_not_make_a_mutation_possible(api: Watched):
    for _ in range(3):
        assert api.initialize(99).json["code"] == "etag_mismatch"
        api.dns()

    assert api.broken() == [(IN_VAIN, [1, 3, 5])]


def test_a_mutation_or_an_end_in_between_may_make_it_possible(api: Watched):
    operation = api.operation()
    api.initialize(99)
    api.set_flag(True)
    api.initialize(99)
    api.engine.move_by(20_000)
    assert api.poll(operation).json["state"] == "succeeded"
    api.initialize(99)

    assert api.broken() == []


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_what_libraries_ask_by_themselves_is_no_retry(api: Watched, method: str):
    for _ in range(2):
        assert api.call(method, f"/v1/projects/{api.project()}/edge-dns").status == 405

    assert api.broken() == []


def test_who_looks_every_minute_looks_anew(api: Watched):
    for _ in range(3):
        api.dns(who="outsider")
        api.engine.move_by(60_000)

    assert api.broken() == []


# --- Retry-After ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["rate_limited", "service_unavailable"])
def test_retry_after_is_waited_for(api: Watched, code: str):
    api.fault(abort={"code": code, "retry_after_seconds": 5})
    api.dns()
    api.pass_time(4.9)
    api.dns()

    (found,) = api.findings()
    assert (found.rule, found.requests) == (TOO_SOON, [1, 2])
    assert "Retry-After: 5" in found.says
    assert "after 4.90 s" in found.says


def test_to_wait_in_real_time_is_to_wait(api: Watched):
    api.fault(**LIMITED)
    api.dns()
    api.pass_time(5)
    api.dns()

    assert api.broken() == []


def test_a_timer_that_ends_a_moment_early_is_forgiven(api: Watched):
    api.fault(**LIMITED)
    api.dns()
    api.pass_time(4.99)
    api.dns()

    assert api.broken() == []


@pytest.mark.parametrize(("advance_ms", "broken"), [(5000, 0), (4999, 1)])
def test_to_wait_in_world_time_is_to_wait(api: Watched, advance_ms: int, broken: int):
    api.fault(**LIMITED)
    api.dns()
    api.engine.move_by(advance_ms)
    api.dns()

    assert len(api.broken()) == broken


def test_the_worlds_own_rate_limit_is_waited_for():
    api = Watched("real", rate_limit="1/10s")
    api.dns()
    told = int(api.dns().headers["Retry-After"])
    api.pass_time(told)

    assert api.dns().status == 200
    assert api.broken() == []


def test_a_loop_is_one_finding_until_it_has_waited(api: Watched):
    api.fault(abort={"code": "rate_limited", "retry_after_seconds": 5}, times=3)
    for _ in range(4):
        api.dns()

    (found,) = api.findings()
    assert found.requests == [1, 2, 3, 4]


def test_what_is_unwell_is_left_alone_and_nothing_else(api: Watched):
    api.fault(abort={"code": "service_unavailable", "retry_after_seconds": 5})
    api.deployments("?limit=5")
    api.pass_time(1)
    api.deployments("?limit=1")
    api.dns()
    api.deployments("?limit=5", who="reader")

    assert api.broken() == []


def test_the_first_request_of_another_kind_is_no_retry_of_a_limited_one(api: Watched):
    api.fault(**LIMITED)
    api.dns()
    api.pass_time(1)
    api.deployments()
    api.dns(who="reader")
    api.dns(token=api.token(interactive=False))

    assert api.broken() == []


def test_a_limited_request_is_a_retry_although_others_came_between(api: Watched):
    api.fault(**LIMITED)
    api.dns()
    api.deployments()
    api.dns()

    assert api.broken() == [(TOO_SOON, [1, 3])]


def test_a_client_that_goes_on_with_other_requests_ignores_a_limit(api: Watched):
    api.fault(**LIMITED | {"times": 30})
    for size in range(1, 20):
        api.deployments(f"?limit={size}")
        api.pass_time(0.1)

    (found,) = api.findings()
    assert (found.rule, found.severity) == (TOO_SOON, "warning")


@pytest.mark.parametrize(("mode", "rate"), [("frozen", None), ("scaled", 100)])
def test_what_was_on_its_way_already_could_not_know_of_a_limit(mode: str, rate: float | None):
    api = Watched(mode, rate)
    api.fault(**LIMITED)
    for connection, ask in enumerate((api.dns, api.deployments, api.dns), 1):
        api.connection = connection
        ask()
        api.pass_time(0.01)  # a second of a world that is a hundred times as fast
    api.pass_time(5)
    api.deployments()

    assert api.broken() == []


def test_of_two_jobs_with_one_token_one_has_not_heard_what_the_other_was_told(api: Watched):
    for connection in (1, 2):
        api.connection = connection
        api.dns()
    api.fault(**LIMITED)
    for connection, asks in ((1, 1), (2, 3)):
        api.connection = connection
        for _ in range(asks):
            api.dns()
            api.pass_time(1)

    assert api.broken() == []


@pytest.mark.parametrize(
    ("path", "findings"), [("edge-dns", [(TOO_SOON, "warning")]), ("deployments", [])]
)
def test_where_each_request_has_a_connection_the_same_again_is_a_retry(
    api: Watched, path: str, findings: list[tuple[str, str]]
):
    api.fault(**LIMITED)
    for connection, asked in ((1, "edge-dns"), (2, path)):
        api.connection = connection
        api.call("GET", f"/v1/projects/{api.project()}/{asked}")
        api.pass_time(1)

    assert [(found.rule, found.severity) for found in api.findings()] == findings


def test_two_reads_at_once_of_what_is_not_there_are_no_retry(api: Watched):
    for connection in (1, 2):
        api.connection = connection
        api.poll(NOWHERE)
        api.pass_time(0.03)

    assert api.broken() == []


# --- A connection for each request -----------------------------------------------------------------


@pytest.mark.parametrize(("attempts", "severities"), [(2, ["warning"]), (3, ["warning"])])
@pytest.mark.parametrize(
    ("fault", "rule"), [(LIMITED, TOO_SOON), ({"abort": {"code": "forbidden"}}, IN_VAIN)]
)
def test_the_same_key_by_a_connection_after_the_last_is_a_retry_however_soon(
    api: Watched, fault: dict[str, object], rule: str, attempts: int, severities: list[str]
):
    api.fault(**fault, times=9)
    for _ in range(attempts):
        api.next_connection()
        api.apply_domains(key="a")
        api.pass_time(0.002)

    found = api.findings()
    assert [one.rule for one in found] == [rule]
    assert [one.severity for one in found] == severities


def test_one_key_by_connections_that_stay_open_may_be_two_workers(api: Watched):
    api.fault(abort={"code": "forbidden"}, times=3)
    for connection in (1, 2, 3):
        api.connection = connection
        api.apply_domains(key="a")
        api.pass_time(0.002)

    assert api.broken() == []


@pytest.mark.parametrize(
    ("asks", "severities"), [(4, ["note"]), (8, ["warning"]), (20, ["warning"])]
)
def test_reads_that_go_on_and_on_are_a_loop_though_none_waits_for_long(
    api: Watched, asks: int, severities: list[str]
):
    for _ in range(asks):
        api.next_connection()
        api.poll(NOWHERE)
        api.pass_time(0.012)

    assert [found.severity for found in api.findings()] == severities


def test_four_programs_that_follow_each_other_at_once_are_accused_of_nothing(api: Watched):
    api.fault(**LIMITED | {"times": 4})
    for _ in range(4):
        api.next_connection()
        api.deployments()
        api.pass_time(0.01)

    assert [finding.severity for finding in api.findings()] == ["note"]


@pytest.mark.parametrize("fault", [{"abort": {"code": "forbidden"}}, LIMITED])
def test_two_programs_that_were_started_together_are_refused_each_for_itself(
    api: Watched, fault: dict[str, object]
):
    api.fault(**fault, times=2)
    for key in ("a", "b"):
        api.next_connection()
        api.apply_domains(key=key)
        api.pass_time(0.3)

    assert [found.severity for found in api.findings()] == ["note"]


# --- Without Retry-After --------------------------------------------------------------------------


@pytest.mark.parametrize(("each_s", "broken"), [(0.01, 1), (0.5, 0)])
@pytest.mark.parametrize("connections", [1, 99])
def test_many_attempts_at_once_are_a_storm(
    api: Watched, each_s: float, broken: int, connections: int
):
    api.fault(abort={"code": "service_unavailable"}, times=30)
    for number in range(30):
        api.connection = number % connections
        assert api.dns().status == 503
        api.pass_time(each_s)

    findings = api.findings()
    assert [(found.rule, found.severity) for found in findings] == [(TOO_SOON, "warning")] * broken
    assert all("get_dns_authorization failed (#1: 503), and was sent" in f.says for f in findings)


def test_a_few_attempts_at_once_are_none(api: Watched):
    api.fault(abort={"code": "service_unavailable"}, times=9)
    for _ in range(20):
        api.dns()

    assert api.broken() == []


def test_a_retry_after_that_never_came_says_nothing(api: Watched):
    api.fault(**LIMITED)
    api.fault(truncate={"bytes": 5})
    api.fault(latency={"delay_ms": 3000}, phase="after_commit")
    api.dns()
    first = api.engine.log.newest(1)[0]
    first.lost = "truncate"  # what the socket did to it
    api.dns()

    assert api.broken() == []
