"""What becomes of a run: by how it ended, and by what it left behind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.explore.plan import FaultPoint
from hosting_emulator_lab.explore.runs import (
    NO_VALUE,
    ConductChoice,
    Explorer,
    Observation,
    RunEnd,
    Visit,
    judge,
)
from tests.lab.explore.samples import clean, key, operation, state

POINT = FaultPoint.read("create_user_api_key#1/timeout/after_commit")
ONE = {"1": key("ci")}
TWO = {**ONE, "2": key("ci")}


def judged(code: int = 0, *, hung: bool = False, hit: bool = True, **tables: Any) -> list[str]:
    """Judge a run; return its verdict and what it says."""
    seen = Observation((), state(**{"user_api_keys": ONE, **tables}), hit=hit)
    result = judge(POINT, RunEnd(code, hung), seen, clean(), limit_s=10)
    return [result.verdict, *result.says]


def test_a_run_with_the_same_exit_code_and_state_survived():
    assert judged() == ["survived"]


def test_a_point_whose_fault_hit_no_request_is_not_reached():
    assert judged(hit=False) == ["not reached"]


def test_another_exit_code_is_a_failure():
    assert judged(3) == ["failed", "exit code 3"]


def test_a_failure_without_a_fault_is_reported_as_intermittent():
    verdict, *says = judged(3, hit=False)

    assert verdict == "failed"
    assert "intermittently" in says[-1]


def test_a_run_that_does_not_end_in_time_is_hung():
    assert judged(143, hung=True) == ["hung", "it did not end within 10 s"]


def test_a_second_api_key_is_doubled_and_stands_beside_other_verdicts():
    says = "2 API keys, while the clean run makes 1: 'ci' of owner in acme"

    assert judged(user_api_keys=TWO) == ["doubled", says]
    assert judged(1, user_api_keys=TWO) == ["failed", "exit code 1", says]
    assert judged(143, hung=True, user_api_keys=TWO)[-1] == says


def test_a_failed_run_does_not_report_what_it_did_not_create():
    assert judged(1, user_api_keys={}) == ["failed", "exit code 1"]


def test_a_successful_run_that_created_nothing_differs():
    verdict, *says = judged(user_api_keys={})

    assert verdict == "differs"
    assert says == ["0 API keys, while the clean run makes 1: 'ci' of owner in acme"]


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (
            {"projects": {"S": {"alias": "shop"}, "N": {"alias": "notes"}}},
            "flag: shop hides its flag, while the clean run has shop shows its flag",
        ),
        (
            {"user_api_keys": {"1": {**key("ci"), "revoked": True}}},
            "API key: 'ci' of owner in acme revoked, while the clean run has 'ci' of owner in acme",
        ),
        ({"user_api_keys": {"1": key("other")}}, "API key: 'other' of owner in acme, while"),
    ],
)
def test_a_state_with_equal_counts_and_other_content_differs(tables: dict[str, Any], says: str):
    verdict, found = judged(**tables)

    assert verdict == "differs"
    assert found.startswith(says)


def test_an_additional_operation_is_doubled():
    verdict, says = judged(operations={"1": operation("failed", error={"code": "etag_mismatch"})})

    assert verdict == "doubled"
    assert says == (
        "1 operation, while the clean run makes 0: apply_project_domains of shop failed "
        "(etag_mismatch)"
    )


def test_a_ticket_that_a_newer_ticket_revoked_does_not_count_as_doubled():
    def ticket(state: str) -> dict[str, Any]:
        return {"project_id": "S", "principal": "P", "state": state}

    one = clean(Observation((), state(dev_access_tickets={"1": ticket("unused")})))
    retried = state(dev_access_tickets={"1": ticket("revoked"), "2": ticket("unused")})
    kept = state(dev_access_tickets={"1": ticket("unused"), "2": ticket("unused")})

    assert judge(POINT, RunEnd(0), Observation((), retried, hit=True), one, limit_s=1).fine
    assert not judge(POINT, RunEnd(0), Observation((), kept, hit=True), one, limit_s=1).fine


def test_content_that_differs_between_clean_runs_is_not_compared():
    named = {name: state(user_api_keys={"1": key(name)}) for name in ("one", "two", "three")}
    twice = state(user_api_keys={"1": key("three"), "2": key("four")})
    by_chance = clean(Observation((), named["one"]), again=named["two"])

    def verdict(found: Any) -> str:
        return judge(
            POINT, RunEnd(0), Observation((), found, hit=True), by_chance, limit_s=1
        ).verdict

    assert by_chance.vague == ["API key"]
    assert (verdict(named["three"]), verdict(twice)) == ("survived", "doubled")


def test_a_count_that_differs_between_clean_runs_is_not_compared():
    one, two = state(user_api_keys=ONE), state(user_api_keys=TWO)
    by_chance = clean(Observation((), one), again=two)

    seen = Observation((), two, hit=True)

    assert judge(POINT, RunEnd(0), seen, by_chance, limit_s=1).verdict == "survived"


def explored(*ends: RunEnd) -> tuple[str, tuple[str, ...], int]:
    """Explore one point whose runs end so; return verdict, what it says, and how many were made."""
    made: list[str] = []

    def perform(visit: Visit, name: str, limit_s: float | None) -> RunEnd:
        visit.seen = Observation((), state(user_api_keys=ONE), hit=True)
        made.append(name)
        return ends[len(made) - 1]

    result = Explorer(perform).result("run-1", POINT, clean())
    return result.verdict, result.says, len(made)


def test_only_a_failure_that_recurs_in_a_second_run_counts():
    assert explored(RunEnd(0)) == ("survived", (), 1)
    assert explored(RunEnd(3), RunEnd(3)) == ("failed", ("exit code 3",), 2)
    says = ("the first of two runs: failed; exit code 3",)
    assert explored(RunEnd(3), RunEnd(0)) == ("survived", says, 2)


def test_a_hung_run_is_not_repeated():
    assert explored(RunEnd(143, hung=True))[::2] == ("hung", 1)


def test_conduct_findings_of_the_clean_run_are_not_reported_again():
    usual = clean(Observation((), state(user_api_keys=ONE), conduct=("old",)))
    seen = Observation((), state(user_api_keys=ONE), hit=True, conduct=("old", "new"))

    assert judge(POINT, RunEnd(0), seen, usual, limit_s=1).conduct == ("new",)


@pytest.mark.parametrize(
    ("conduct", "verdict", "told"),
    [("off", "survived", 0), ("report", "survived", 1), ("error", "misbehaved", 1)],
)
def test_a_conduct_finding_is_ignored_reported_or_counted_by_choice(
    conduct: ConductChoice, verdict: str, told: int
):
    before = clean()
    before = replace(before, seen=replace(before.seen, conduct=("unread-field: No",)))
    late = "retried-too-soon: Tried again"
    seen = Observation((), state(user_api_keys=ONE), hit=True, conduct=("unread-field: No", late))

    result = judge(POINT, RunEnd(0), seen, before, limit_s=10, conduct=conduct)

    assert (result.verdict, result.conduct) == (verdict, (late,) * told)
    assert result.says == (("retried-too-soon",) if conduct == "error" else ())
    worse = judge(POINT, RunEnd(1), seen, before, limit_s=10, conduct=conduct)
    assert worse.verdict == "failed"


@pytest.mark.parametrize(
    ("conduct", "verdict"),
    [("off", "gave up"), ("report", "misbehaved"), ("error", "misbehaved")],
)
def test_a_conduct_error_counts_where_conduct_is_reported(conduct: ConductChoice, verdict: str):
    broken = ("new-key-after-uncertainty: Retried",)
    seen = Observation((), state(), hit=True, conduct=broken, conduct_errors=broken)
    point = FaultPoint.read(FORBIDDEN)

    result = judge(point, RunEnd(1), seen, clean(), limit_s=10, conduct=conduct)

    assert result.verdict == verdict


# --- what lasts -----------------------------------------------------------------------------------

FAILS, STUCK = ("apply_project_domains#1/fail/lasting", "apply_project_domains#1/stick/lasting")
FORBIDDEN = "create_user_api_key#1/abort:forbidden/lasting"
READ = "list_deployments#1/abort:forbidden/lasting"
DONE = {"1": operation("succeeded")}


def lasted(text: str, end: RunEnd | None = None, /, limit_s: int = 10, **over: Any) -> str:
    """Judge a run in which something lasted; return its verdict."""
    usual = Observation((), state(operations=DONE, user_api_keys=ONE), sent=4, values=1)
    before = clean(usual)
    before = replace(before, ended=RunEnd(0, printed=("done 1",)))
    seen = replace(usual, hit=True, **over)
    point = FaultPoint.read(text)

    ended = end or RunEnd(0, duration_s=1, printed=("done 2",))
    return judge(point, ended, seen, before, limit_s=limit_s).verdict


def test_a_client_that_fails_under_a_lasting_fault_gave_up():
    assert lasted(FAILS, RunEnd(1), state=state(operations={"1": operation("failed")})) == "gave up"
    assert lasted(FORBIDDEN, RunEnd(1), alike=1, in_vain=True) == "gave up"


def test_success_although_the_operation_did_not_succeed_is_blind_success():
    failed = state(operations={"1": operation("failed")}, user_api_keys=ONE)

    assert lasted(FAILS, state=failed) == "blind success"
    assert lasted(STUCK, state=state(operations={"1": operation("queued")})) == "blind success"


def test_success_before_the_operation_fails_is_blind_success():
    fails = Counter({"apply_project_domains of shop failed (operation_failed)": 1})

    assert lasted(FAILS, failed=fails) == "blind success"
    assert lasted(FAILS, RunEnd(1), failed=fails) == "gave up"


def test_repeating_a_failed_operation_is_not_doubled():
    twice = state(operations={"1": operation("failed"), "2": operation("failed")})
    stuck = state(operations={"1": operation("running"), "2": operation("queued")})

    assert lasted(FAILS, RunEnd(1), state=twice) == "gave up"
    assert lasted(STUCK, RunEnd(1), state=stuck) == "doubled"


def test_a_refusal_that_changes_no_printed_word_is_blind_success():
    vain: dict[str, Any] = {"alike": 1, "in_vain": True}

    assert lasted(READ, **vain) == "blind success"
    assert lasted(READ, RunEnd(0, printed=("no deployments to show",)), **vain) == "unclear"


def test_a_read_that_a_second_request_completes_survives():
    assert lasted(READ, alike=1, in_vain=False) == "survived"


def test_many_retries_without_pauses_are_repeated():
    end = RunEnd(1, duration_s=1)

    outage = "create_user_api_key#1/outage/lasting"
    assert lasted(outage, end, alike=300, in_vain=True) == "repeated"
    assert lasted(outage, end, alike=4, in_vain=True) == "gave up"
    # Who waits by moving the world's time has waited.
    assert lasted(outage, end, alike=300, in_vain=True, passed_s=9000) == "gave up"


def test_three_attempts_after_a_final_refusal_are_repeated_and_two_are_not():
    assert lasted(FORBIDDEN, RunEnd(1), alike=2) == "gave up"
    assert lasted(FORBIDDEN, RunEnd(1), alike=3) == "repeated"


@pytest.mark.parametrize("fault", ["outage", "limited"])
def test_a_temporary_refusal_may_be_retried_with_pauses(fault: str):
    point, end = f"create_user_api_key#1/{fault}/lasting", RunEnd(1, duration_s=1)

    assert lasted(point, end, alike=6) == "gave up"
    told = ("retried-too-soon: Retried too soon",)
    assert lasted(point, end, alike=6, conduct=told) == "repeated"


def test_a_patient_client_waits_until_it_sends_too_many_polls():
    end = RunEnd(143, hung=True, duration_s=10)

    assert lasted(STUCK, end, sent=9) == "waits"
    assert lasted(STUCK, end, sent=40) == "waits"  # it may have a limit of two minutes
    assert lasted(STUCK, end, sent=300) == "hung"
    assert lasted(STUCK, end, sent=40, limit_s=180) == "hung"


def test_waiting_after_an_end_or_a_final_refusal_is_hung():
    end, told = RunEnd(143, hung=True, duration_s=10), ("polled-after-end: Polled an operation",)

    assert lasted(FORBIDDEN, end, sent=40) == "hung"
    assert lasted("apply_project_domains#1/fail/lasting", end, sent=40, conduct=told) == "hung"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("dig www.null", "unclear"),
        ("https://undefined/", "unclear"),
        ("zone null, none; not there/null.", "survived"),
        ('{"zone": null}', "survived"),
    ],
)
def test_null_inside_a_printed_name_is_unclear(line: str, verdict: str):
    ended = RunEnd(0, printed=(line,))

    assert lasted("get_dns_authorization#1/no_zone/lasting", ended) == verdict


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("KeyError: 'id'", "unclear"),
        ("TypeError: Cannot read properties of null (reading 'min_cu')", "unclear"),
        ("panic: runtime error: invalid memory address", "unclear"),
        ("RuntimeError: the operation failed", "gave up"),
        ("TypeError: fetch failed", "gave up"),
        ("urllib.error.HTTPError: HTTP Error 403: Forbidden", "gave up"),
    ],
)
def test_output_that_looks_like_a_crash_is_unclear(line: str, verdict: str):
    assert lasted(FORBIDDEN, RunEnd(1, output=("Traceback", line))) == verdict


@pytest.mark.parametrize(("code", "verdict"), [(1, "gave up"), (139, "crashed"), (255, "gave up")])
def test_a_program_that_is_killed_by_a_signal_crashed(code: int, verdict: str):
    assert lasted(FORBIDDEN, RunEnd(code, output=("bye",))) == verdict


def test_another_exit_code_after_a_complete_response_is_unclear():
    assert lasted("get_dns_authorization#1/no_zone/lasting", RunEnd(1)) == "unclear"


def test_a_request_that_names_null_is_blind_success():
    urls = frozenset({"/v1/projects/null/edge-dns"})

    assert lasted("get_dns_authorization#1/no_zone/lasting", none_urls=urls) == "blind success"


def test_a_key_that_replaces_a_lost_value_is_not_doubled():
    lost, two = (
        "create_user_api_key#1/value_lost/lasting",
        state(operations=DONE, user_api_keys=TWO),
    )

    assert lasted(lost, values=0, asked_keys=1, lost_keys=1) == "blind success"
    assert lasted(lost, state=two, lost_keys=1) == "survived"
    assert lasted(lost, state=two, lost_keys=0) == "doubled"
    assert lasted(lost, RunEnd(1), values=0, lost_keys=1) == "gave up"


def test_a_key_with_a_random_name_may_replace_a_lost_value():
    usual = replace(
        clean(Observation((), state(user_api_keys={"1": key("ci-1")}), values=1)),
        again=state(user_api_keys={"1": key("ci-2")}),
    )
    drawn = state(user_api_keys={"1": key("ci-3"), "2": key("ci-3-again")})
    seen = Observation((), drawn, hit=True, values=1, lost_keys=1)

    assert judge(POINT, RunEnd(0), seen, usual, limit_s=10).verdict == "survived"
    twice = replace(seen, lost_keys=0)
    assert judge(POINT, RunEnd(0), twice, usual, limit_s=10).verdict == "doubled"


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("done 7", "blind success"),
        ("done None", "blind success"),
        ("the value is stored", "unclear"),
        ("replay: secret saved", "unclear"),
        ("the value of key K1 was lost: revoke it", "unclear"),
    ],
)
def test_printed_words_never_turn_a_lost_value_into_survival(printed: str, verdict: str):
    lost: dict[str, Any] = {"values": 0, "asked_keys": 1, "lost_keys": 1}
    ended = RunEnd(0, printed=(printed,))

    assert lasted("create_user_api_key#1/value_lost/lasting", ended, **lost) == verdict


def test_a_client_that_requests_no_key_loses_no_value():
    usual = clean(Observation((), state(user_api_keys=ONE), values=1))
    seen = Observation((), state(user_api_keys=ONE), hit=True)

    assert judge(POINT, RunEnd(0), seen, usual, limit_s=10).verdict == "survived"
    unhit = replace(seen, hit=False, state=state())
    assert judge(POINT, RunEnd(0), unhit, usual, limit_s=10).verdict == "not reached"


def test_a_value_lost_on_the_wire_is_blind_success():
    usual = clean(Observation((), state(user_api_keys=ONE), values=1))
    seen = Observation((), state(user_api_keys=ONE), hit=True, asked_keys=1, lost_keys=1)

    ended = judge(POINT, RunEnd(0), seen, usual, limit_s=10)

    assert (ended.verdict, ended.says) == ("blind success", (NO_VALUE,))
    assert judge(POINT, RunEnd(1), seen, usual, limit_s=10).verdict == "gave up"
    more = replace(seen, state=state(user_api_keys=TWO), values=1)
    assert judge(POINT, RunEnd(0), more, usual, limit_s=10).fine


@pytest.mark.parametrize(("timeout_s", "late_ms"), [(1.5, 100), (30.0, 1000)])
def test_a_late_response_arrives_within_the_timeout_of_the_client(timeout_s: float, late_ms: int):
    delays: list[int] = []

    def perform(visit: Visit, name: str, limit_s: float | None) -> RunEnd:
        delays.append(visit.late_ms)
        again = visit.late_ms > timeout_s * 1000
        visit.seen = Observation((), state(user_api_keys=ONE), hit=True, sent=1 + again)
        return RunEnd(0)

    explorer, usual = Explorer(perform), clean(Observation((), state(user_api_keys=ONE), sent=1))
    for phase in ("before_commit", "after_commit"):
        explorer.result("run", FaultPoint.read(f"create_user_api_key#1/latency/{phase}"), usual)

    assert delays == [2000, late_ms, late_ms]
