"""Polling and following: as often as told, to the end, and past what one does not know."""

import re

import pytest

from hosting_emulator.conduct.watch import watch_of
from tests.support.watched_client import Watched

EARLY = "polled-too-early"
AFTER_END = "polled-after-end"
NOT_FOLLOWED = "operation-not-followed"
STOPPED = "stopped-at-the-unknown"
WORDS = ("queued", "building", "warming_up", "verifying", "done")


@pytest.fixture
def api() -> Watched:
    return Watched("real")


def test_a_poll_comes_when_it_was_asked_for(api: Watched):
    operation = api.operation()
    api.pass_time(1)
    api.poll(operation)

    (found,) = api.findings()
    assert (found.rule, found.requests) == (EARLY, [1, 2])
    assert "should have been polled after 2 s (#1), but was polled after 1.00 s (#2)" in found.says


def test_a_client_that_waits_is_right(api: Watched):
    operation = api.apply_domains().json
    while operation["state"] not in ("succeeded", "failed", "cancelled"):
        api.pass_time(operation["progress"]["next_poll_after_seconds"])
        operation = api.poll(operation["id"]).json

    assert api.broken(final=True) == []
    assert api.look().judged >= 3


@pytest.mark.parametrize("in_world_time", [True, False])
def test_either_time_may_pass(in_world_time: bool):
    api = Watched("frozen")
    operation = api.operation()
    if in_world_time:
        api.engine.move_by(2000)
    else:
        api.pass_time(2)
    api.poll(operation)

    assert api.broken() == []


def test_an_answer_that_was_lost_asked_for_nothing(api: Watched):
    operation = api.operation()
    api.pass_time(2)
    api.fault(connection_reset={}, call="get_operation")
    api.poll(operation)
    api.pass_time(0.05)
    api.poll(operation)  # as soon as one likes: more than 2 s after the last that was heard

    assert api.broken() == []


@pytest.mark.parametrize(
    "fault",
    [
        {"latency": {"delay_ms": 3000}, "phase": "after_commit"},
        {"slow_response": {"bytes_per_second": 100}},
    ],
)
def test_an_answer_that_came_late_may_not_have_been_waited_for(api: Watched, fault):
    operation = api.operation()
    api.pass_time(2)
    api.fault(call="get_operation", **fault)
    api.poll(operation)
    api.pass_time(2.1)
    api.poll(operation)

    assert api.broken() == []


@pytest.mark.parametrize("each_s", [0.002, 0.012, 0.03])
def test_a_loop_without_pause_by_a_connection_each_is_found(api: Watched, each_s: float):
    operation = api.operation()
    for _ in range(200):
        api.next_connection()
        api.poll(operation)
        api.pass_time(each_s)

    (found,) = api.findings()
    assert (found.rule, found.severity) == (EARLY, "warning")


def test_a_loop_that_does_not_see_the_end_is_found_by_a_connection_each(api: Watched):
    operation = api.operation()
    api.engine.move_by(60_000)
    for _ in range(60):
        api.next_connection()
        assert api.poll(operation).json["state"] == "succeeded"
        api.pass_time(0.012)

    (found,) = api.findings()
    assert (found.rule, found.severity) == ("polled-after-end", "warning")
    named = [int(n) for n in re.findall(r"#([0-9]+)", found.says)]
    assert {*named} <= {*found.requests}


def test_a_clock_that_skips_makes_every_poll_right():
    api = Watched("skip")
    operation = api.operation()
    for _ in range(5):
        state = api.poll(operation).json["state"]
        if state == "succeeded":
            break

    assert api.broken(final=True) == []
    assert any("it skips" in remark for remark in api.look().remarks)


def test_someone_else_may_look(api: Watched):
    operation = api.operation()
    api.poll(operation, who="reader")

    assert api.broken() == []


def test_polling_too_early_can_be_left_out(api: Watched):
    api.poll(api.operation())

    assert watch_of(api.engine).look([EARLY]).findings == []
    assert api.broken() != []


# --- The end --------------------------------------------------------------------------------------


def ended(api: Watched) -> str:
    operation = api.operation()
    api.pass_time(20)
    assert api.poll(operation).json["state"] == "succeeded"
    return operation


def test_what_has_ended_is_not_polled(api: Watched):
    operation = ended(api)
    for _ in range(3):
        api.pass_time(60)
        api.poll(operation)

    (found,) = api.findings()
    assert (found.rule, found.requests) == (AFTER_END, [2, 3, 4, 5])


@pytest.mark.parametrize(("after_s", "severity"), [(3600, "note"), (0.1, "warning")])
def test_to_look_once_more_later_is_no_loop(api: Watched, after_s: float, severity: str):
    operation = ended(api)
    api.pass_time(after_s)
    api.poll(operation)

    (found,) = api.findings()
    assert (found.rule, found.severity, found.requests) == (AFTER_END, severity, [2, 3])


@pytest.mark.parametrize(("each_s", "severity"), [(10, "warning"), (60, "note")])
def test_a_loop_asks_again_and_again_and_somebody_who_looks_seldom(
    api: Watched, each_s: float, severity: str
):
    operation = ended(api)
    for _ in range(5):
        api.pass_time(each_s)
        api.poll(operation)

    (found,) = api.findings()
    assert (found.severity, found.requests) == (severity, [2, 3, 4, 5, 6, 7])


def test_a_page_that_shows_an_end_beside_other_things_waits_for_nothing(api: Watched):
    operation = ended(api)
    for _ in range(5):
        api.pass_time(5)
        api.dns()
        api.poll(operation)

    assert [(found.rule, found.severity) for found in api.findings()] == [(AFTER_END, "note")]


# --- Several clients with one token ---------------------------------------------------------------


def test_a_poll_counts_from_when_it_was_sent_and_one_that_was_given_up_does_not(api: Watched):
    operation = api.operation()
    api.pass_time(2)

    def poll_again() -> None:
        api.pass_time(1)
        api.poll(operation)

    api.send_late(5000, "GET", f"/v1/operations/{operation}", between=poll_again)
    api.pass_time(2)
    api.poll(operation)

    assert api.broken() == []


def test_a_second_poll_that_was_on_its_way_with_the_first_is_no_early_one(api: Watched):
    operation = api.operation()
    api.pass_time(2)
    for connection in (1, 2):
        api.connection = connection
        api.poll(operation)
        api.pass_time(0.02)

    assert api.broken() == []


@pytest.mark.parametrize("keeps_connections", [True, False])
def test_each_of_two_processes_waits_for_what_it_was_told_itself(
    api: Watched, keeps_connections: bool
):
    due: dict[int, int] = {}
    for process in (1, 2):
        api.connection = process
        operation = api.apply_domains(key="a").json
        wait_s = operation["progress"]["next_poll_after_seconds"]
        due[process] = api.machine.at_ms + wait_s * 1000
        api.pass_time(0.7)
    for poll in range(3, 7):
        process = min(due, key=lambda process: due[process])
        api.machine.at_ms = due[process]
        api.connection = process if keeps_connections else poll
        progress = api.poll(operation["id"]).json.get("progress", {})
        due[process] += progress.get("next_poll_after_seconds", 60) * 1000

    assert api.broken() == []


def test_a_client_with_a_connection_for_each_poll_waits_as_well(api: Watched):
    operation = api.operation()
    for connection in (1, 2, 3):
        api.connection = connection
        api.pass_time(1)
        api.poll(operation)

    (found,) = api.findings()
    assert (found.rule, found.severity) == (EARLY, "warning")
    assert found.requests == [1, 2, 3, 4]


def test_after_a_replay_the_wait_counts_from_what_it_says(api: Watched):
    operation = str(api.apply_domains(key="a").json["id"])
    api.pass_time(60)
    api.apply_domains(key="a")
    api.pass_time(1)
    api.poll(operation)

    assert api.broken() == [(EARLY, [2, 3])]


def test_a_new_connection_beside_one_that_is_kept_may_be_somebody_elses(api: Watched):
    operation = api.operation()
    api.pass_time(2)
    api.poll(operation)
    api.pass_time(1)
    api.connection = 2
    api.poll(operation)

    assert [(found.rule, found.severity) for found in api.findings()] == [(EARLY, "note")]


def test_two_that_wait_for_one_end_both_hear_it(api: Watched):
    operation = api.operation()
    for connection in (1, 2):
        api.connection = connection
        api.pass_time(3)
        api.poll(operation)
    api.pass_time(20)
    for connection in (1, 2):
        api.connection = connection
        api.poll(operation)

    assert api.broken() == []


def test_another_client_of_the_same_person_looks_for_itself(api: Watched):
    operation = ended(api)
    api.poll(operation, token=api.token(interactive=False))

    assert api.broken() == []


def test_two_clients_of_one_person_each_wait_for_their_own(api: Watched):
    operation, other = api.operation(), api.token(interactive=False)
    api.pass_time(1)
    api.poll(operation, token=other)
    api.pass_time(1)
    api.poll(operation)
    assert api.broken() == []

    api.pass_time(0.1)
    api.poll(operation)
    assert api.broken() == [(EARLY, [3, 4])]


def test_to_begin_anew_again_and_again_is_a_loop_too(api: Watched):
    operation = api.apply_domains(key="a").json["id"]
    api.pass_time(20)
    api.poll(operation)
    for _ in range(3):
        api.apply_domains(key="a")
        api.pass_time(2)
        api.poll(operation)

    (found,) = api.findings()
    assert (found.rule, found.severity, found.requests) == (AFTER_END, "warning", [2, 6, 8])


def test_an_end_that_was_not_heard_of_is_asked_for_again(api: Watched):
    operation = api.operation()
    api.pass_time(20)
    api.lose(call="get_operation")
    api.poll(operation)
    api.poll(operation)

    assert api.broken() == []


def test_a_client_that_begins_anew_finds_the_end_again(api: Watched):
    operation = api.apply_domains(key="a").json["id"]
    api.pass_time(20)
    api.poll(operation)
    assert api.apply_domains(key="a").json["state"] == "queued"  # its first answer again
    api.pass_time(2)
    api.poll(operation)

    assert api.broken() == []


def test_an_operation_is_followed(api: Watched):
    api.operation()
    assert api.broken() == []

    (found,) = api.findings(final=True)
    assert (found.rule, found.severity, found.requests) == (NOT_FOLLOWED, "note", [1])
    assert api.broken() == []  # the client may go on all the same


def test_the_first_answer_again_begins_nothing_anew(api: Watched):
    operation = api.apply_domains(key="a").json["id"]
    api.pass_time(20)
    api.poll(operation)
    api.apply_domains(key="a")

    assert api.broken(final=True) == []


def test_an_operation_that_nobody_heard_of_cannot_be_followed(api: Watched):
    api.lose()
    api.apply_domains()

    assert api.broken(final=True) == []


def test_whoever_follows_it_to_its_end_follows_it(api: Watched):
    operation = api.operation()
    api.pass_time(20)
    api.poll(operation, who="reader")

    assert api.broken(final=True) == []


def test_what_was_begun_elsewhere_may_be_looked_at_only(api: Watched):
    operation = api.operation()
    api.engine.log.clear()
    api.poll(operation)

    assert api.broken(final=True) == []


# --- What is unknown ------------------------------------------------------------------------------


def test_to_stop_at_an_unknown_word_is_told():
    api = Watched("real", progress_phases=WORDS)
    operation = api.operation()
    api.pass_time(3)
    assert api.poll(operation).json["progress"]["phase"] == "warming_up"
    assert api.broken() == []

    (found,) = api.findings(final=True)
    assert (found.rule, found.requests) == (STOPPED, [2])
    assert "the unknown progress.phase 'warming_up'" in found.says


def test_to_go_on_past_an_unknown_word_is_right():
    api = Watched("real", progress_phases=WORDS)
    operation = api.operation()
    api.pass_time(3)
    api.poll(operation)
    api.pass_time(20)
    api.poll(operation)

    assert api.broken(final=True) == []


def test_an_unknown_field_is_unknown_too(api: Watched):
    operation = api.operation()
    api.pass_time(3)
    api.poll(operation)
    entry = api.engine.log.newest(1)[0]
    entry.answer = entry.answer[:-1] + b',"region":"north"}'
    entry.answer_bytes = len(entry.answer)

    (found,) = api.findings(final=True)
    assert "the unknown field region" in found.says


STATUSES = ("queued", "building", "deploying", "live", "failed", "gone")


def make_unknown(api: Watched, n: int) -> None:
    """Add a field that nobody knows to an answer."""
    entry = api.engine.log.find(n)
    assert entry is not None
    entry.answer = entry.answer[:-1] + b',"region":"north"}'
    entry.answer_bytes = len(entry.answer)


def read_pages(api: Watched, pages: int = 99, *, limit: int = 20) -> None:
    query = f"?limit={limit}"
    while pages:
        cursor = api.deployments(query).json.get("next_cursor")
        if cursor is None:
            return
        query, pages = f"?limit={limit}&cursor={cursor}", pages - 1


@pytest.mark.parametrize(("follows", "severity"), [(True, "warning"), (False, "note")])
def test_who_follows_known_words_to_the_end_stopped_at_the_unknown(
    api: Watched, follows: bool, severity: str
):
    for polls in (3, 2) if follows else (2,):  # who never sees an end may have a deadline
        operation = api.operation()
        for _ in range(polls):
            api.pass_time(4)
            state = api.poll(operation).json["state"]
    assert state == "running"
    last = api.engine.log.count
    make_unknown(api, last)

    (found,) = api.findings(final=True)
    assert (found.rule, found.severity, found.requests) == (STOPPED, severity, [last])


def test_who_never_polls_twice_may_have_stopped_for_anything(api: Watched):
    for n in (2, 4):
        operation = api.operation()
        api.pass_time(3)
        api.poll(operation)
        make_unknown(api, n)

    assert [(f.rule, f.severity) for f in api.findings(final=True)] == [(STOPPED, "note")] * 2


def test_who_went_on_past_the_unknown_did_not_stop_at_it(api: Watched):
    operation = api.operation()
    for _ in range(2):
        api.pass_time(3)
        api.poll(operation)
    make_unknown(api, 2)
    make_unknown(api, 3)

    assert api.broken(final=True) == [(NOT_FOLLOWED, [3])]


def test_who_ignores_unknown_fields_may_stop_at_an_unknown_word():
    api = Watched("real", progress_phases=WORDS)
    operation = api.operation()
    make_unknown(api, 1)
    api.pass_time(3)
    api.poll(operation)

    (found,) = api.findings(final=True)
    assert (found.rule, found.severity, found.requests) == (STOPPED, "note", [2])
    assert "the unknown progress.phase 'warming_up'" in found.says


def test_to_stop_at_a_first_page_with_an_unknown_word_may_be_meant():
    api = Watched(deployment_statuses=STATUSES)
    api.deployments("?limit=2")

    (found,) = api.findings(final=True)
    assert (found.rule, found.severity, found.requests) == (STOPPED, "note", [1])
    assert "'live'" in found.says


@pytest.mark.parametrize(("reads_to_the_end", "severity"), [(True, "warning"), (False, "note")])
def test_to_stop_at_a_page_may_be_to_have_found_it(
    api: Watched, reads_to_the_end: bool, severity: str
):
    if reads_to_the_end:
        read_pages(api, limit=20)
    read_pages(api, 3, limit=5)
    last = api.engine.log.count
    make_unknown(api, last)

    (found,) = api.findings(final=True)
    assert (found.rule, found.severity, found.requests) == (STOPPED, severity, [last])


def test_who_turned_a_page_with_an_unknown_word_did_not_stop_at_it():
    api = Watched(deployment_statuses=STATUSES)
    read_pages(api, 2, limit=5)

    assert api.broken(final=True) == []


def test_a_list_that_is_begun_anew_is_another(api: Watched):
    read_pages(api, limit=20)
    api.deployments("?limit=1")
    make_unknown(api, api.engine.log.count)

    assert [found.severity for found in api.findings(final=True)] == ["note"]


def test_to_read_all_pages_is_right():
    api = Watched(deployment_statuses=("queued", "building", "deploying", "live", "failed", "gone"))
    page = api.deployments("?limit=40").json
    while "next_cursor" in page:
        page = api.deployments(f"?limit=40&cursor={page['next_cursor']}").json

    assert api.broken(final=True) == []
