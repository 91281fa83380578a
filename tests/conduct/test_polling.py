"""Rules about polling: not too early, until the operation ends, and past unknown values."""

import json
import re

import pytest

from hosting_emulator.conduct.world_watch import watch_of
from tests.support.judged_world import JudgedWorld

EARLY = "polled-too-early"
AFTER_END = "polled-after-end"
NOT_FOLLOWED = "operation-not-followed"
STOPPED = "stopped-at-the-unknown"
WORDS = ("queued", "building", "warming_up", "verifying", "done")


@pytest.fixture
def client() -> JudgedWorld:
    return JudgedWorld("real")


def test_a_poll_before_the_requested_wait_is_a_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(1)
    client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (EARLY, [1, 2])


def test_a_client_that_waits_as_requested_gets_no_finding(client: JudgedWorld):
    operation = client.apply_domains().json
    while operation["state"] not in ("succeeded", "failed", "cancelled"):
        client.pass_time(operation["progress"]["next_poll_after_seconds"])
        operation = client.poll(operation["id"]).json

    assert client.broken_rules(final=True) == []
    assert client.conduct_report().judged >= 3


@pytest.mark.parametrize("in_world_time", [True, False])
def test_a_client_may_wait_in_world_time_or_in_real_time(in_world_time: bool):
    client = JudgedWorld("frozen")
    operation = client.start_operation()
    if in_world_time:
        client.engine.move_by(2000)
    else:
        client.pass_time(2)
    client.poll(operation)

    assert client.broken_rules() == []


def test_a_lost_response_requests_no_wait(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(2)
    client.fault(connection_reset={}, call="get_operation")
    client.poll(operation)
    client.pass_time(0.05)
    client.poll(operation)  # any time is allowed: the latest received response is more than 2 s old

    assert client.broken_rules() == []


@pytest.mark.parametrize(
    "fault",
    [
        {"latency": {"delay_ms": 3000}, "after_commit": True},
        {"slow_response": {"bytes_per_second": 100}},
    ],
)
def test_a_late_response_requests_no_wait(client: JudgedWorld, fault):
    operation = client.start_operation()
    client.pass_time(2)
    client.fault(call="get_operation", **fault)
    client.poll(operation)
    client.pass_time(2.1)
    client.poll(operation)

    assert client.broken_rules() == []


@pytest.mark.parametrize("each_s", [0.002, 0.012, 0.03])
def test_a_poll_loop_with_a_connection_for_each_request_is_a_finding(
    client: JudgedWorld, each_s: float
):
    operation = client.start_operation()
    for _ in range(200):
        client.change_connection()
        client.poll(operation)
        client.pass_time(each_s)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (EARLY, "warning")


def test_a_loop_past_the_end_with_a_connection_for_each_poll_is_a_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.engine.move_by(60_000)
    for _ in range(60):
        client.change_connection()
        assert client.poll(operation).json["state"] == "succeeded"
        client.pass_time(0.012)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == ("polled-after-end", "warning")
    named_requests = [int(n) for n in re.findall(r"#([0-9]+)", finding.message)]
    assert {*named_requests} <= {*finding.requests}


def test_a_loop_past_the_end_that_begins_long_after_it_is_a_warning(client: JudgedWorld):
    operation = client.start_operation()
    client.engine.move_by(60_000)
    assert client.poll(operation).json["state"] == "succeeded"
    client.pass_time(60)
    for _ in range(4):
        client.poll(operation)
        client.pass_time(5)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (AFTER_END, "warning")


def test_no_poll_is_too_early_with_the_clock_skip():
    client = JudgedWorld("skip")
    operation = client.start_operation()
    for _ in range(5):
        state = client.poll(operation).json["state"]
        if state == "succeeded":
            break

    assert client.broken_rules(final=True) == []
    assert any("each poll moves the clock" in remark for remark in client.conduct_report().remarks)


@pytest.mark.parametrize(("mode", "polls"), [("skip", False), ("frozen", True)])
def test_a_report_remarks_on_early_polls_only_if_a_poll_moved_the_clock(mode: str, polls: bool):
    client = JudgedWorld(mode)
    operation = client.start_operation()
    client.dns()
    if polls:
        client.poll(operation)

    assert client.conduct_report().remarks == []


def test_another_user_may_poll_at_once(client: JudgedWorld):
    operation = client.start_operation()
    client.poll(operation, user="reader")

    assert client.broken_rules() == []


def test_the_rule_polled_too_early_can_be_ignored(client: JudgedWorld):
    client.poll(client.start_operation())

    assert watch_of(client.engine).look([EARLY]).findings == []
    assert client.broken_rules() != []


# --- The end --------------------------------------------------------------------------------------


def ended(client: JudgedWorld) -> str:
    operation = client.start_operation()
    client.pass_time(20)
    assert client.poll(operation).json["state"] == "succeeded"
    return operation


def test_polling_an_ended_operation_is_a_finding(client: JudgedWorld):
    operation = ended(client)
    for _ in range(3):
        client.pass_time(60)
        client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (AFTER_END, [2, 3, 4, 5])


@pytest.mark.parametrize("after_s", [3600, 0.1, 0])
def test_a_single_poll_after_the_end_is_only_a_note(client: JudgedWorld, after_s: float):
    operation = ended(client)
    client.pass_time(after_s)
    client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity, finding.requests) == (AFTER_END, "note", [2, 3])


def test_a_second_poll_immediately_after_the_end_is_a_warning(client: JudgedWorld):
    operation = ended(client)
    client.poll(operation)
    client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (AFTER_END, "warning")


@pytest.mark.parametrize(("each_s", "severity"), [(10, "warning"), (60, "note")])
def test_frequent_polls_after_the_end_are_a_warning_and_rare_polls_a_note(
    client: JudgedWorld, each_s: float, severity: str
):
    operation = ended(client)
    for _ in range(5):
        client.pass_time(each_s)
        client.poll(operation)

    (finding,) = client.findings()
    assert (finding.severity, finding.requests) == (severity, [2, 3, 4, 5, 6, 7])


def test_polls_after_the_end_between_other_requests_are_only_a_note(client: JudgedWorld):
    operation = ended(client)
    for _ in range(5):
        client.pass_time(5)
        client.dns()
        client.poll(operation)

    assert [(finding.rule, finding.severity) for finding in client.findings()] == [
        (AFTER_END, "note")
    ]


# --- Several clients with one token ---------------------------------------------------------------


def test_the_wait_counts_from_the_last_poll_that_was_not_abandoned(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(2)

    def poll_again() -> None:
        client.pass_time(1)
        client.poll(operation)

    client.send_delayed(5000, "GET", f"/v1/operations/{operation}", between=poll_again)
    client.pass_time(2)
    client.poll(operation)

    assert client.broken_rules() == []


def test_two_polls_sent_at_the_same_time_are_no_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(2)
    for connection in (1, 2):
        client.connection = connection
        client.poll(operation)
        client.pass_time(0.02)

    assert client.broken_rules() == []


@pytest.mark.parametrize("keeps_connections", [True, False])
def test_each_of_two_processes_waits_as_its_own_response_requested(
    client: JudgedWorld, keeps_connections: bool
):
    due: dict[int, int] = {}
    for process in (1, 2):
        client.connection = process
        operation = client.apply_domains(key="a").json
        wait_s = operation["progress"]["next_poll_after_seconds"]
        due[process] = client.machine.at_ms + wait_s * 1000
        client.pass_time(0.7)
    for poll in range(3, 7):
        process = min(due, key=lambda process: due[process])
        client.machine.at_ms = due[process]
        client.connection = process if keeps_connections else poll
        progress = client.poll(operation["id"]).json.get("progress", {})
        due[process] += progress.get("next_poll_after_seconds", 60) * 1000

    assert client.broken_rules() == []


def test_early_polls_with_a_connection_each_are_a_finding(client: JudgedWorld):
    operation = client.start_operation()
    for connection in range(1, 7):
        client.connection = connection
        client.pass_time(1)
        client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity) == (EARLY, "warning")
    assert {1, 2, 4, 5, 6} <= {*finding.requests}


@pytest.mark.parametrize("starts_s", [[1.25], [0.4, 1.25]])
def test_first_polls_of_programs_that_have_just_started_are_only_a_note(
    client: JudgedWorld, starts_s: list[float]
):
    operation = client.start_operation()
    for pause_s in starts_s:
        client.change_connection()
        client.pass_time(pause_s)
        client.poll(operation)

    assert [(finding.rule, finding.severity) for finding in client.findings()] == [(EARLY, "note")]


def test_the_wait_after_a_replay_counts_from_the_replay(client: JudgedWorld):
    operation = str(client.apply_domains(key="a").json["id"])
    client.pass_time(60)
    client.apply_domains(key="a")
    client.pass_time(1)
    client.poll(operation)

    assert client.broken_rules() == [(EARLY, [2, 3])]


def test_an_early_poll_by_a_second_connection_is_only_a_note(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(2)
    client.poll(operation)
    client.pass_time(1)
    client.connection = 2
    client.poll(operation)

    assert [(finding.rule, finding.severity) for finding in client.findings()] == [(EARLY, "note")]


def test_two_clients_may_both_poll_the_end_of_an_operation(client: JudgedWorld):
    operation = client.start_operation()
    for connection in (1, 2):
        client.connection = connection
        client.pass_time(3)
        client.poll(operation)
    client.pass_time(20)
    for connection in (1, 2):
        client.connection = connection
        client.poll(operation)

    assert client.broken_rules() == []


def test_another_token_of_a_user_may_poll_the_end_for_itself(client: JudgedWorld):
    operation = ended(client)
    client.poll(operation, token=client.token(interactive=False))

    assert client.broken_rules() == []


def test_two_tokens_of_a_user_each_have_their_own_wait(client: JudgedWorld):
    operation = client.start_operation()
    other_token = client.token(interactive=False)
    client.pass_time(1)
    client.poll(operation, token=other_token)
    client.pass_time(1)
    client.poll(operation)
    assert client.broken_rules() == []

    client.pass_time(0.1)
    client.poll(operation)
    assert client.broken_rules() == [(EARLY, [3, 4])]


def test_replaying_and_polling_an_ended_operation_repeatedly_is_a_finding(client: JudgedWorld):
    operation = client.apply_domains(key="a").json["id"]
    client.pass_time(20)
    client.poll(operation)
    for _ in range(3):
        client.apply_domains(key="a")
        client.pass_time(2)
        client.poll(operation)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity, finding.requests) == (AFTER_END, "warning", [2, 6, 8])


def test_a_poll_after_a_lost_end_is_no_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(20)
    client.lose_response(call="get_operation")
    client.poll(operation)
    client.poll(operation)

    assert client.broken_rules() == []


def test_a_single_replay_and_poll_of_an_ended_operation_is_no_finding(client: JudgedWorld):
    operation = client.apply_domains(key="a").json["id"]
    client.pass_time(20)
    client.poll(operation)
    assert client.apply_domains(key="a").json["state"] == "queued"  # the first response again
    client.pass_time(2)
    client.poll(operation)

    assert client.broken_rules() == []


def test_an_operation_that_is_never_polled_is_a_note(client: JudgedWorld):
    client.start_operation()
    assert client.broken_rules() == []

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.severity, finding.requests) == (NOT_FOLLOWED, "note", [1])
    assert client.broken_rules() == []  # the client may still continue


def test_a_replay_starts_no_operation_to_follow(client: JudgedWorld):
    operation = client.apply_domains(key="a").json["id"]
    client.pass_time(20)
    client.poll(operation)
    client.apply_domains(key="a")

    assert client.broken_rules(final=True) == []


def test_an_operation_whose_response_was_lost_need_not_be_followed(client: JudgedWorld):
    client.lose_response()
    client.apply_domains()

    assert client.broken_rules(final=True) == []


def test_another_user_may_follow_an_operation_to_its_end(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(20)
    client.poll(operation, user="reader")

    assert client.broken_rules(final=True) == []


def test_an_operation_started_before_the_log_need_not_be_followed(client: JudgedWorld):
    operation = client.start_operation()
    client.engine.log.clear()
    client.poll(operation)

    assert client.broken_rules(final=True) == []


# --- Unknown values -------------------------------------------------------------------------------


def test_a_client_that_stops_at_an_unknown_word_gets_a_finding():
    client = JudgedWorld("real", progress_phases=WORDS)
    operation = client.start_operation()
    client.pass_time(3)
    assert client.poll(operation).json["progress"]["phase"] == "warming_up"
    assert client.broken_rules() == []

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.requests) == (STOPPED, [2])


def test_a_client_that_continues_past_an_unknown_word_gets_no_finding():
    client = JudgedWorld("real", progress_phases=WORDS)
    operation = client.start_operation()
    client.pass_time(3)
    client.poll(operation)
    client.pass_time(20)
    client.poll(operation)

    assert client.broken_rules(final=True) == []


def test_a_client_that_stops_at_an_unknown_field_gets_a_finding(client: JudgedWorld):
    operation = client.start_operation()
    client.pass_time(3)
    client.poll(operation)
    entry = client.engine.log.newest(1)[0]
    entry.response_body = entry.response_body[:-1] + b',"region":"north"}'
    entry.response_bytes = len(entry.response_body)

    (finding,) = client.findings(final=True)
    assert "the unknown field region" in finding.message


STATUSES = ("queued", "building", "deploying", "live", "failed", "gone", "replaced")


def make_unknown(client: JudgedWorld, n: int) -> None:
    """Add an unknown field to a logged response."""
    entry = client.engine.log.find(n)
    assert entry is not None
    entry.response_body = entry.response_body[:-1] + b',"region":"north"}'
    entry.response_bytes = len(entry.response_body)


def read_pages(client: JudgedWorld, pages: int = 99, *, limit: int = 20) -> None:
    query = f"?limit={limit}"
    while pages:
        cursor = client.deployments(query).json.get("next_cursor")
        if cursor is None:
            return
        query = f"?limit={limit}&cursor={cursor}"
        pages = pages - 1


@pytest.mark.parametrize(("follows", "severity"), [(True, "warning"), (False, "note")])
def test_stopping_at_the_unknown_is_a_warning_for_a_client_that_follows_otherwise(
    client: JudgedWorld, follows: bool, severity: str
):
    for polls in (3, 2) if follows else (2,):  # a client that never sees an end may have a deadline
        operation = client.start_operation()
        for _ in range(polls):
            client.pass_time(4)
            state = client.poll(operation).json["state"]
    assert state == "running"
    last = client.engine.log.count
    make_unknown(client, last)

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.severity, finding.requests) == (STOPPED, severity, [last])


def test_stopping_at_the_unknown_is_a_note_for_a_client_that_never_polls_twice(client: JudgedWorld):
    for n in (2, 4):
        operation = client.start_operation()
        client.pass_time(3)
        client.poll(operation)
        make_unknown(client, n)

    assert [(f.rule, f.severity) for f in client.findings(final=True)] == [(STOPPED, "note")] * 2


def test_a_client_that_polled_past_the_unknown_did_not_stop_at_it(client: JudgedWorld):
    operation = client.start_operation()
    for _ in range(2):
        client.pass_time(3)
        client.poll(operation)
    make_unknown(client, 2)
    make_unknown(client, 3)

    assert client.broken_rules(final=True) == [(NOT_FOLLOWED, [3])]


def test_a_client_that_continues_past_a_field_may_stop_at_a_word():
    client = JudgedWorld("real", progress_phases=WORDS)
    operation = client.start_operation()
    make_unknown(client, 1)
    client.pass_time(3)
    client.poll(operation)

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.severity, finding.requests) == (STOPPED, "note", [2])
    assert "the unknown progress.phase 'warming_up'" in finding.message


def test_stopping_at_a_first_page_with_an_unknown_word_is_only_a_note():
    client = JudgedWorld(deployment_statuses=STATUSES)
    client.deployments("?limit=2")

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.severity, finding.requests) == (STOPPED, "note", [1])
    assert "'live'" in finding.message


@pytest.mark.parametrize(("reads_to_the_end", "severity"), [(True, "warning"), (False, "note")])
def test_stopping_at_a_page_with_the_unknown_is_a_warning_after_a_complete_listing(
    client: JudgedWorld, reads_to_the_end: bool, severity: str
):
    if reads_to_the_end:
        read_pages(client, limit=20)
    read_pages(client, 3, limit=5)
    last = client.engine.log.count
    make_unknown(client, last)

    (finding,) = client.findings(final=True)
    assert (finding.rule, finding.severity, finding.requests) == (STOPPED, severity, [last])


def test_a_client_that_turned_a_page_with_an_unknown_word_did_not_stop():
    client = JudgedWorld(deployment_statuses=STATUSES)
    read_pages(client, 2, limit=5)

    assert client.broken_rules(final=True) == [("list-not-finished", [2])]


def test_a_listing_with_another_page_size_is_another_listing(client: JudgedWorld):
    read_pages(client, limit=20)
    client.deployments("?limit=1")
    make_unknown(client, client.engine.log.count)

    assert [finding.severity for finding in client.findings(final=True)] == ["note"]


def test_reading_all_pages_with_unknown_words_is_no_finding():
    client = JudgedWorld(deployment_statuses=STATUSES)
    page = client.deployments("?limit=40").json
    while "next_cursor" in page:
        page = client.deployments(f"?limit=40&cursor={page['next_cursor']}").json

    assert client.broken_rules(final=True) == []


# --- Responses that contain no operation ----------------------------------------------------------


@pytest.mark.parametrize("body", [[], ["id"], "id", None, 5, {}, {"id": 5}, {"id": None}])
def test_a_response_without_the_id_of_an_operation_starts_nothing_to_follow(
    client: JudgedWorld, body: object
):
    client.fault(respond={"status": 202, "content": json.dumps(body)}, call="apply_project_domains")
    client.apply_domains()

    assert client.broken_rules(final=True) == []


@pytest.mark.parametrize("progress", [None, 5, [], "soon", {}, {"next_poll_after_seconds": True}])
def test_a_response_without_advice_requests_no_wait(client: JudgedWorld, progress: object):
    client.fault(alter={"set": {"/progress": progress}, "breaking": True})
    operation = client.start_operation()
    client.poll(operation)

    assert client.broken_rules() == []


def test_advancing_a_frozen_clock_lets_a_response_arrive_before_a_poll_on_a_new_connection():
    client = JudgedWorld("frozen")
    client.connection = 1
    operation = client.start_operation()
    client.engine.move_by(1500)
    client.connection = 2
    client.poll(operation)

    assert client.broken_rules() == [(EARLY, [1, 2])]
