"""Exchanges are judged in the order of their responses, and requests in progress without a response."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.conduct import watch as watch_module
from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.watch import Watch
from hosting_emulator.conduct.world_watch import watch_of
from tests.support.judged_world import JudgedWorld
from tests.support.small_limits import limit_logs

MISSING = "missing-idempotency-key"
NEW_KEY = "new-key-after-uncertainty"
UNREAD = "unread-field"
LOG_SIZE = 3


class Observed:
    """The exchanges that a judge observed, in order."""

    def __init__(self) -> None:
        self.exchanges: list[ExchangeView] = []
        self.entries: list[Any] = []

    @property
    def numbers(self) -> list[int]:
        return [exchange.n for exchange in self.exchanges]


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Observed:
    """Replace the judges of new watches with one that records the exchanges."""
    observed = Observed()

    class Recorder(ConductJudge):
        def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
            observed.exchanges.append(exchange)
            observed.entries.append(exchange.entry)
            return ()

    monkeypatch.setattr(watch_module, "JUDGES", (Recorder,))
    return observed


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the request logs of new worlds hold three exchanges."""
    limit_logs(monkeypatch, LOG_SIZE)


def send_reads(client: JudgedWorld, count: int) -> Callable[[], None]:
    """Return a function that sends `count` reads on another connection."""

    def send() -> None:
        connection = client.connection
        client.connection = connection + 1
        for _ in range(count):
            client.dns()
        client.connection = connection

    return send


def dns_path(client: JudgedWorld) -> str:
    return f"/v1/projects/{client.project_id()}/edge-dns"


# --- The order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("after_commit", [False, True])
def test_exchanges_in_the_log_are_judged_in_the_order_of_their_responses(
    observed: Observed, after_commit: bool
):
    client = JudgedWorld()
    client.send_delayed(
        50, "GET", dns_path(client), between=send_reads(client, 2), after_commit=after_commit
    )

    assert client.conduct_report().judged == 3
    # After a commit, a response exists before its delay.
    assert observed.numbers == ([1, 2, 3] if after_commit else [2, 3, 1])


@pytest.mark.parametrize("after_commit", [False, True])
@pytest.mark.parametrize("reports", [False, True])
@pytest.mark.usefixtures("small_log")
def test_a_request_that_leaves_the_log_before_its_response_is_judged_once_with_it(
    observed: Observed, after_commit: bool, reports: bool
):
    client = JudgedWorld()

    def send() -> None:
        send_reads(client, 5)()
        if reports:
            client.conduct_report()

    client.send_delayed(50, "GET", dns_path(client), between=send, after_commit=after_commit)
    send_reads(client, 4)()

    report = client.conduct_report(final=True)
    assert (report.judged, report.unseen) == (10, 0)
    position = observed.numbers.index(1)
    assert sorted(observed.numbers) == list(range(1, 11))
    assert [n for n in observed.numbers if n != 1] == list(range(2, 11))
    # The request was in progress while the first reads were judged, and has left before the last.
    assert 2 in observed.numbers[:position]
    assert 7 in observed.numbers[position:]


@pytest.mark.usefixtures("small_log")
def test_a_request_that_left_the_log_is_judged_before_all_later_responses(observed: Observed):
    client = JudgedWorld()
    client.send_delayed(50, "GET", dns_path(client), between=send_reads(client, 4))
    send_reads(client, 7)()

    # Request 5 was evicted after the response to request 1, which came later.
    assert observed.numbers == [2, 3, 4, 5, 1, 6, 7, 8, 9]


@pytest.mark.usefixtures("small_log")
def test_two_requests_that_left_the_log_are_judged_in_the_order_of_their_responses(
    observed: Observed,
):
    client = JudgedWorld()

    def send_slow_request() -> None:
        client.connection = 7
        client.send_delayed(20, "GET", dns_path(client), between=send_reads(client, 4))
        client.connection = 0

    client.send_delayed(50, "GET", dns_path(client), between=send_slow_request)
    send_reads(client, 4)()

    assert client.conduct_report().judged == 10
    assert observed.numbers == [3, 4, 5, 6, 2, 1, 7, 8, 9, 10]


def test_a_few_exchanges_can_be_judged_at_a_time(observed: Observed):
    client = JudgedWorld()
    watch = watch_of(client.engine).current
    send_reads(client, 5)()

    assert (watch.judge_some(2), observed.numbers) == (True, [1, 2])
    assert (watch.judge_some(2), observed.numbers) == (True, [1, 2, 3, 4])
    assert (watch.judge_some(1), observed.numbers) == (False, [1, 2, 3, 4, 5])
    assert (watch.judge_some(2), watch.look().judged) == (False, 5)


# --- The response that judges see -----------------------------------------------------------------


def test_judges_see_the_response_that_the_client_received(observed: Observed):
    client = JudgedWorld()
    client.dns()
    client.fault(abort={"code": "forbidden"})
    client.apply_domains(key="a")
    first, second = reversed(client.engine.log.newest(2))
    changes = {
        "replayed": True,
        "lost": "connection_reset",
        "late_ms": 20,
        "why": ("the second reason",),
        "altered": ("/state",),
        "altered_beyond_contract": True,
        "own_status": 418,
    }
    second = replace(second, **changes)

    client.engine.log.clear()
    entry = replace(first, second_delivery=second, is_discarded=True, late_ms=3)
    client.engine.log.restore([entry], 1)
    Watch(client.engine).look()

    (seen,) = observed.entries
    assert (seen.n, seen.method, seen.body) == (first.n, first.method, first.body)
    assert seen.late_ms == 23
    assert seen.why == (*first.why, "the second reason")
    assert seen.acted == (*first.acted, *second.acted)
    for name in (*changes, "status", "code", "response_headers", "content_type", "response_body"):
        if name not in ("late_ms", "why"):
            assert getattr(seen, name) == getattr(second, name) != getattr(first, name), name
    assert seen.response_bytes == len(second.response_body)


@pytest.mark.parametrize("after_commit", [False, True])
def test_judges_see_a_request_in_progress_as_its_client_does(
    observed: Observed, after_commit: bool
):
    client = JudgedWorld()

    def look() -> None:
        client.pass_time(7)
        client.conduct_report(final=True)

    client.fault(abort={"code": "forbidden"}, call="list_deployments")
    path = f"/v1/projects/{client.project_id()}/domains"
    client.send_delayed(50, "PUT", path, key="a", between=look, after_commit=after_commit)

    (seen,) = observed.entries
    assert (seen.status, seen.code, seen.response_body) == (0, None, b"")
    assert (seen.lost, seen.late_ms) == ("no_response_yet", 7000)


def test_judging_a_request_in_progress_does_not_count_as_a_use_of_its_connection(
    observed: Observed,
):
    client = JudgedWorld()
    client.dns()

    def look() -> None:
        for _ in range(2):
            client.conduct_report(final=True)

    client.send_delayed(50, "GET", dns_path(client), between=look)
    uses = [(exchange.n, exchange.ordinal) for exchange in observed.exchanges]
    (use,) = {exchange.connection_use for exchange in observed.exchanges}

    assert uses == [(1, 1), (2, 2), (2, 2)]
    assert (use.count, use.last) == (1, 1)


# --- Requests in progress -------------------------------------------------------------------------


def broken_rules(client: JudgedWorld, rule: str, *, final: bool = False) -> list[list[int]]:
    """Return the requests of each finding about a rule."""
    return [requests for other, requests in client.broken_rules(final=final) if other == rule]


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("gives_up", [False, True])
@pytest.mark.parametrize("after_commit", [False, True])
def test_a_request_in_progress_is_judged_once_its_client_is_gone(
    gives_up: bool, final: bool, after_commit: bool
):
    client = JudgedWorld()
    findings = []

    def look() -> None:
        client.pass_time(1)
        if gives_up:
            client.change_connection()
        for _ in range(2):
            findings.append(broken_rules(client, UNREAD, final=final))
        findings.append(broken_rules(client, UNREAD))

    path = f"{dns_path(client)}?unknown=1"
    client.send_delayed(50, "GET", path, between=look, after_commit=after_commit)

    expected = [[1]] if gives_up or final else []
    # A final report changes no later report.
    assert findings == [expected, expected, [[1]] if gives_up else []]
    assert client.conduct_report().judged == 1
    assert broken_rules(client, UNREAD) == [[1]]


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("gives_up", [False, True])
@pytest.mark.parametrize("after_commit", [False, True])
def test_the_result_of_a_request_in_progress_is_uncertain_once_its_client_gave_up(
    gives_up: bool, final: bool, after_commit: bool
):
    client = JudgedWorld()
    findings = []

    def retry_with_new_key() -> None:
        client.pass_time(1)
        if gives_up:
            client.change_connection()
        else:
            client.connection += 1
        client.apply_domains(key="second")
        findings.append(broken_rules(client, NEW_KEY, final=final))

    path = f"/v1/projects/{client.project_id()}/domains"
    client.send_delayed(
        50, "PUT", path, key="first", between=retry_with_new_key, after_commit=after_commit
    )

    assert findings == [[[1, 2]] if gives_up else []]


def test_judging_a_request_in_progress_does_not_change_the_judges():
    client = JudgedWorld()
    path = f"/v1/projects/{client.project_id()}/domains"

    def look() -> None:
        client.broken_rules(final=True)

    client.send_delayed(50, "PUT", path, key="first", between=look)
    client.apply_domains(key="second")

    assert broken_rules(client, NEW_KEY) == []
    assert client.conduct_report().judged == 2


def test_a_request_in_progress_counts_in_no_coverage():
    client = JudgedWorld()
    client.dns()
    counts = []

    def look() -> None:
        client.conduct_report(final=True)
        counts.append(watch_of(client.engine).current.coverage().calls)

    path = f"/v1/projects/{client.project_id()}/domains"
    client.send_delayed(50, "PUT", path, key="first", between=look, after_commit=True)

    assert [set(calls) for calls in counts] == [{"get_dns_authorization"}]
    assert set(watch_of(client.engine).current.coverage().calls) == {
        "get_dns_authorization",
        "apply_project_domains",
    }


# --- Rewinds --------------------------------------------------------------------------------------


def test_requests_between_two_rewinds_are_compared_with_each_other():
    client = JudgedWorld()
    beginning = client.save_state()
    for _ in range(3):
        client.poll("0" * 26)
    client.engine.restore(beginning)
    for _ in range(3):
        client.poll("1" * 26)
    client.engine.restore(beginning)
    client.poll("1" * 26)

    in_vain = "retried-not-retryable"
    assert client.broken_rules() == [(in_vain, [1, 2, 3]), (in_vain, [4, 5, 6])]


# --- The report -----------------------------------------------------------------------------------


def test_findings_are_sorted_by_their_last_request_and_then_by_rule():
    client = JudgedWorld()
    project = client.project_id()
    client.call("GET", f"/v1/projects/{project}/edge-dns?first=1")
    client.poll("0" * 26)
    client.apply_domains(key=None)
    client.call("GET", f"/v1/projects/{project}/edge-dns?second=1")
    client.call("PUT", f"/v1/projects/{project}/powered-by-flag?third=1", body={"enabled": True})

    client.apply_domains(key=None)

    assert client.broken_rules() == [
        (UNREAD, [1]),
        (UNREAD, [4]),
        (MISSING, [5]),
        (UNREAD, [5]),
        (MISSING, [3, 6]),
        ("retried-not-retryable", [3, 6]),
    ]


@pytest.mark.parametrize(
    ("mode", "send", "judged", "remarks"),
    [
        ("frozen", JudgedWorld.start_operation, 1, []),
        (
            "skip",
            lambda client: client.poll(client.start_operation()),
            2,
            ["Early polling was not checked, because in `skip` mode each poll moves the clock."],
        ),
        ("skip", JudgedWorld.dns, 1, []),
        ("frozen", lambda client: client.poll(client.start_operation()), 2, []),
        (
            "frozen",
            lambda client: client.send_from_emulator("GET", dns_path(client)),
            0,
            ["Not checked: 1 request from the emulator's own pages and tools."],
        ),
        (
            "frozen",
            lambda client: (
                client.fault(deliver_twice={"response": "second"}),
                client.apply_domains(key="a"),
            ),
            1,
            ["Not checked: 1 request that faults delivered a second time."],
        ),
    ],
)
def test_a_report_remarks_on_each_request_that_was_not_checked(
    mode: str, send: Callable[[JudgedWorld], object], judged: int, remarks: list[str]
):
    client = JudgedWorld(mode=mode)
    send(client)

    report = client.conduct_report()

    assert (report.judged, report.remarks) == (judged, remarks)
    assert report.complete


def test_a_watch_reports_the_requests_that_it_cannot_see():
    client = JudgedWorld()
    send_reads(client, 3)()

    report = Watch(client.engine, 2, unseen=2).look()

    assert (report.judged, report.unseen, report.complete) == (1, 2, False)
    assert len(report.remarks) == 1


# --- Closed watches -------------------------------------------------------------------------------


def test_a_closed_watch_judges_no_later_request():
    client = JudgedWorld()
    watch = Watch(client.engine)
    client.start_operation()
    watch.close()
    client.apply_domains(key=None)
    client.poll("0" * 26)
    (entry,) = client.engine.log.newest(1)
    watch.judge_evicted(entry)
    watch.close()

    assert not watch.judge_some(5)
    assert (watch.look().judged, watch.look().findings) == (1, [])
    assert [finding.rule for finding in watch.look(final=True).findings] == [
        "operation-not-followed"
    ]
    assert set(watch.coverage().calls) == {"apply_project_domains"}
    assert watch.coverage().calls["apply_project_domains"].statuses == {"202": 1}


def test_coverage_includes_requests_that_no_report_has_judged():
    client = JudgedWorld()
    watch = Watch(client.engine)
    client.dns()

    assert set(watch.coverage().calls) == {"get_dns_authorization"}
