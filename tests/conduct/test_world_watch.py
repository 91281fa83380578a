"""A world's watch judges all requests to the world, across resets and loads."""

from collections.abc import Callable

import pytest

from hosting_emulator.conduct.watch import Watch
from hosting_emulator.conduct.world_watch import watch_of
from hosting_emulator.sdk import ConductReport
from tests.support.in_process import InProcess, Machine, fresh_world
from tests.support.judged_world import JudgedWorld
from tests.support.small_limits import end_log, limit_logs

MISSING = "missing-idempotency-key"
UNREAD = "unread-field"
LOG_SIZE = 3


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the request logs of new worlds hold three exchanges."""
    limit_logs(monkeypatch, LOG_SIZE)


def send_unread_field(api: InProcess) -> None:
    api.call("GET", f"/v1/projects/{api.project_id()}/edge-dns?unknown=1")


def chapters(report: ConductReport) -> list[tuple[str, list[int], str | None]]:
    return [(finding.rule, finding.requests, finding.chapter) for finding in report.findings]


@pytest.mark.parametrize("reason", ["reset", "loaded", "replaced"])
@pytest.mark.parametrize("looks_first", [False, True])
def test_a_report_tells_the_requests_before_and_after_a_replaced_world_apart(
    reason: str, looks_first: bool
):
    api = InProcess()
    if looks_first:
        watch_of(api.engine)
    api.dns()
    send_unread_field(api)
    api.apply_domains(key=None)
    end_log(api, reason)
    api.apply_domains(key=None)
    send_unread_field(api)

    report = watch_of(api.engine).look()

    before = f"before the world was {reason}"
    assert chapters(report) == [
        (UNREAD, [2], before),
        (MISSING, [3], before),
        (MISSING, [1], None),
        (UNREAD, [2], None),
    ]
    assert report.counts == {UNREAD: 2, MISSING: 2}
    assert (report.judged, report.unseen, report.complete) == (5, 0, True)
    assert (report.remarks, report.errors) == ([], [])
    assert looks_first or not api.engine.log.past


def test_a_final_report_ends_the_work_of_earlier_chapters_too():
    api = InProcess()
    api.apply_domains(key="a")
    end_log(api, "reset")
    api.apply_domains(key="b")
    watch = watch_of(api.engine)

    rule = "operation-not-followed"
    before = "before the world was reset"
    assert watch.look().findings == []
    assert chapters(watch.look(final=True)) == [(rule, [1], before), (rule, [1], None)]
    assert watch.look([rule], final=True).findings == []
    assert watch.look([rule], final=True).skipped_rules == [rule]


@pytest.mark.usefixtures("small_log")
def test_the_first_check_counts_the_requests_that_left_earlier_logs():
    api = InProcess()
    send_unread_field(api)
    for _ in range(LOG_SIZE + 1):
        api.dns()
    end_log(api, "reset")

    watch = watch_of(api.engine)
    report = watch.look()

    assert (report.judged, report.unseen, report.complete) == (LOG_SIZE, 2, False)
    (remark,) = report.remarks
    assert "2 requests from before the world was last reset" in remark
    watch.begin_anew()
    report = watch.look()
    assert (report.unseen, report.complete, report.remarks) == (0, True, [])


@pytest.mark.usefixtures("small_log")
def test_the_first_check_counts_the_requests_of_earlier_logs_that_are_no_longer_kept():
    api = InProcess()
    for count in (2, 1, 3):
        for _ in range(count):
            api.dns()
        end_log(api, "reset")
    for _ in range(LOG_SIZE + 4):
        api.dns()

    report = watch_of(api.engine).look()

    # The logs with 2 and with 1 requests were dropped to make room, and 4 requests left the last.
    assert (report.judged, report.unseen) == (2 * LOG_SIZE, 3 + 4)
    assert len(report.remarks) == 2
    assert api.engine.log.past_unseen == 0


def test_a_remark_about_several_chapters_is_made_once():
    api = JudgedWorld(mode="skip")
    api.poll(api.start_operation())
    end_log(api, "reset")
    api.poll(api.start_operation())

    assert len(api.conduct_report().remarks) == 1


def test_a_report_says_that_requests_before_a_restart_were_not_checked():
    api = InProcess(fresh_world(machine=Machine()))
    api.engine.starts = 1
    watch = watch_of(api.engine)
    api.dns()

    report = watch.look()

    assert (report.judged, report.unseen, report.complete) == (1, 0, False)
    (remark,) = report.remarks
    assert "2026-01-01T00:00:00" in remark
    watch.begin_anew()
    assert (watch.look().complete, watch.look().remarks) == (True, [])


def test_a_watch_that_begins_anew_forgets_all_chapters():
    api = JudgedWorld()
    send_unread_field(api)
    end_log(api, "reset")
    send_unread_field(api)
    watch = watch_of(api.engine)

    watch.begin_anew()

    assert (watch.look().judged, watch.look().findings, watch.look().counts) == (0, [], {})
    api.dns()
    send_unread_field(api)
    assert chapters(watch.look()) == [(UNREAD, [3], None)]
    assert watch.look().judged == 2


def fail(*_: object) -> None:
    raise ValueError("the watch is broken")


@pytest.mark.parametrize(
    ("method", "send"),
    [
        ("judge_evicted", lambda api: [api.dns() for _ in range(LOG_SIZE + 1)]),
        ("close", lambda api: end_log(api, "reset")),
    ],
)
@pytest.mark.usefixtures("small_log")
def test_an_error_of_the_watch_reaches_the_report_and_no_client(
    monkeypatch: pytest.MonkeyPatch, method: str, send: Callable[[InProcess], object]
):
    api = InProcess()
    watch = watch_of(api.engine)
    with monkeypatch.context() as patch:
        patch.setattr(Watch, method, fail)
        send(api)

    assert api.dns().status == 200
    (error,) = watch.look().errors
    assert "The watch failed: ValueError: the watch is broken" in error


def test_the_errors_of_earlier_chapters_stay_in_the_report():
    api = InProcess()
    watch = watch_of(api.engine)
    watch.on_error(ValueError("in the first chapter"))
    api.dns()
    end_log(api, "reset")
    watch.on_error(ValueError("in the second chapter"))

    first, second = watch.look().errors

    assert "in the first chapter" in first
    assert "in the second chapter" in second
