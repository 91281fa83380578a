"""The verdict on a run follows from how it ended and what it left behind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.point_runs import PointRuns
from hosting_emulator_lab.judge.point_verdicts import judge_point
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import ConductChoice, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from tests.lab.judge.samples import clean, key, operation, state

POINT = FaultPoint.read("create_user_api_key#1/timeout/after_commit")
ONE_KEY = {"1": key("ci")}
TWO_KEYS = {**ONE_KEY, "2": key("ci")}


def verdict_and_says(
    code: int = 0, *, hung: bool = False, hit: bool = True, **tables: Any
) -> list[str]:
    """Judge a run and return its verdict and explanations."""
    observation = Observation((), state(**{"user_api_keys": ONE_KEY, **tables}), hit=hit)
    result = judge_point(POINT, RunEnd(code, hung), observation, clean(), limit_s=10)
    return [result.verdict, *result.reasons]


def test_a_run_with_the_same_exit_code_and_state_survived():
    assert verdict_and_says() == ["survived"]


def test_a_point_whose_fault_hit_no_request_is_not_reached():
    assert verdict_and_says(hit=False) == ["not reached"]


def test_another_exit_code_is_a_failure():
    assert verdict_and_says(3) == ["failed", "exit code 3"]


def test_a_failure_without_a_fault_is_reported_as_intermittent():
    verdict, *says = verdict_and_says(3, hit=False)

    assert verdict == "failed"
    assert "intermittently" in says[-1]


def test_a_run_that_does_not_end_in_time_is_hung():
    assert verdict_and_says(143, hung=True) == ["hung", "it did not end within 10 s"]


def test_a_second_api_key_is_doubled_and_stands_beside_other_verdicts():
    says = "2 API keys, while the clean run makes 1: 'ci' of owner in acme"

    assert verdict_and_says(user_api_keys=TWO_KEYS) == ["doubled", says]
    assert verdict_and_says(1, user_api_keys=TWO_KEYS) == ["failed", "exit code 1", says]
    assert verdict_and_says(143, hung=True, user_api_keys=TWO_KEYS)[-1] == says


def test_a_failed_run_does_not_report_what_it_did_not_create():
    assert verdict_and_says(1, user_api_keys={}) == ["failed", "exit code 1"]


def test_a_successful_run_that_created_nothing_differs():
    verdict, *says = verdict_and_says(user_api_keys={})

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
    verdict, message = verdict_and_says(**tables)

    assert verdict == "differs"
    assert message.startswith(says)


def test_an_additional_operation_is_doubled():
    verdict, says = verdict_and_says(
        operations={"1": operation("failed", error={"code": "etag_mismatch"})}
    )

    assert verdict == "doubled"
    assert says == (
        "1 operation, while the clean run makes 0: apply_project_domains of shop failed "
        "(etag_mismatch)"
    )


def test_a_ticket_that_a_newer_ticket_revoked_does_not_count_as_doubled():
    def ticket(state: str) -> dict[str, Any]:
        return {"project_id": "S", "principal": "P", "state": state}

    clean_run = clean(Observation((), state(dev_access_tickets={"1": ticket("unused")})))
    retried = state(dev_access_tickets={"1": ticket("revoked"), "2": ticket("unused")})
    unrevoked = state(dev_access_tickets={"1": ticket("unused"), "2": ticket("unused")})

    assert judge_point(
        POINT, RunEnd(0), Observation((), retried, hit=True), clean_run, limit_s=1
    ).fine
    assert not judge_point(
        POINT, RunEnd(0), Observation((), unrevoked, hit=True), clean_run, limit_s=1
    ).fine


def test_content_that_differs_between_clean_runs_is_not_compared():
    states = {name: state(user_api_keys={"1": key(name)}) for name in ("one", "two", "three")}
    two_keys = state(user_api_keys={"1": key("three"), "2": key("four")})
    clean_run = clean(Observation((), states["one"]), second_state=states["two"])

    def verdict(run_state: Any) -> str:
        return judge_point(
            POINT, RunEnd(0), Observation((), run_state, hit=True), clean_run, limit_s=1
        ).verdict

    assert clean_run.varying_kinds == ["API key"]
    assert (verdict(states["three"]), verdict(two_keys)) == ("survived", "doubled")


def test_a_count_that_differs_between_clean_runs_is_not_compared():
    one_key = state(user_api_keys=ONE_KEY)
    two_keys = state(user_api_keys=TWO_KEYS)
    clean_run = clean(Observation((), one_key), second_state=two_keys)

    observation = Observation((), two_keys, hit=True)

    assert judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=1).verdict == "survived"


def explored(*ends: RunEnd) -> tuple[str, tuple[str, ...], int]:
    """Explore one point whose runs end like this; return verdict, explanations and number of runs."""
    run_names: list[str] = []

    def perform(visit: RunVisit, name: str, limit_s: float | None) -> RunEnd:
        visit.observation = Observation((), state(user_api_keys=ONE_KEY), hit=True)
        run_names.append(name)
        return ends[len(run_names) - 1]

    result = PointRuns(perform).result("run-1", POINT, clean())
    return result.verdict, result.reasons, len(run_names)


def test_only_a_failure_that_recurs_in_a_second_run_counts():
    assert explored(RunEnd(0)) == ("survived", (), 1)
    assert explored(RunEnd(3), RunEnd(3)) == ("failed", ("exit code 3",), 2)
    says = ("the first of two runs: failed; exit code 3",)
    assert explored(RunEnd(3), RunEnd(0)) == ("survived", says, 2)


def test_a_hung_run_is_not_repeated():
    assert explored(RunEnd(143, hung=True))[::2] == ("hung", 1)


def test_conduct_findings_of_the_clean_run_are_not_reported_again():
    clean_run = clean(Observation((), state(user_api_keys=ONE_KEY), conduct=("old",)))
    observation = Observation((), state(user_api_keys=ONE_KEY), hit=True, conduct=("old", "new"))

    assert judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=1).conduct == ("new",)


@pytest.mark.parametrize(
    ("conduct", "verdict", "count"),
    [("off", "survived", 0), ("report", "survived", 1), ("error", "misbehaved", 1)],
)
def test_a_conduct_finding_is_ignored_reported_or_counted_by_choice(
    conduct: ConductChoice, verdict: str, count: int
):
    clean_run = clean()
    clean_run = replace(
        clean_run, observation=replace(clean_run.observation, conduct=("unread-field: No",))
    )
    finding = "retried-too-soon: Tried again"
    observation = Observation(
        (), state(user_api_keys=ONE_KEY), hit=True, conduct=("unread-field: No", finding)
    )

    result = judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=10, conduct=conduct)

    assert (result.verdict, result.conduct) == (verdict, (finding,) * count)
    assert result.reasons == (("retried-too-soon",) if conduct == "error" else ())
    failed = judge_point(POINT, RunEnd(1), observation, clean_run, limit_s=10, conduct=conduct)
    assert failed.verdict == "failed"


@pytest.mark.parametrize(
    ("conduct", "verdict"),
    [("off", "gave up"), ("report", "misbehaved"), ("error", "misbehaved")],
)
def test_a_conduct_error_counts_where_conduct_is_reported(conduct: ConductChoice, verdict: str):
    findings = ("new-key-after-uncertainty: Retried",)
    observation = Observation((), state(), hit=True, conduct=findings, conduct_errors=findings)
    point = FaultPoint.read(FORBIDDEN)

    result = judge_point(point, RunEnd(1), observation, clean(), limit_s=10, conduct=conduct)

    assert result.verdict == verdict


# --- Lasting faults -----------------------------------------------------------------------------------

FAILS = "apply_project_domains#1/fail/lasting"
STUCK = "apply_project_domains#1/stick/lasting"
FORBIDDEN = "create_user_api_key#1/abort:forbidden/lasting"
READ = "list_deployments#1/abort:forbidden/lasting"
SUCCEEDED = {"1": operation("succeeded")}


def lasting_verdict(
    text: str, end: RunEnd | None = None, /, limit_s: int = 10, **overrides: Any
) -> str:
    """Judge a run with a lasting fault and return its verdict."""
    first_observation = Observation(
        (), state(operations=SUCCEEDED, user_api_keys=ONE_KEY), request_count=4, key_values=1
    )
    clean_run = clean(first_observation)
    clean_run = replace(clean_run, end=RunEnd(0, printed_lines=("done 1",)))
    observation = replace(first_observation, hit=True, **overrides)
    point = FaultPoint.read(text)

    run_end = end or RunEnd(0, duration_s=1, printed_lines=("done 2",))
    return judge_point(point, run_end, observation, clean_run, limit_s=limit_s).verdict


def test_a_client_that_fails_under_a_lasting_fault_gave_up():
    assert (
        lasting_verdict(FAILS, RunEnd(1), state=state(operations={"1": operation("failed")}))
        == "gave up"
    )
    assert (
        lasting_verdict(FORBIDDEN, RunEnd(1), refusals_in_a_row=1, is_last_refused=True)
        == "gave up"
    )


def test_success_although_the_operation_did_not_succeed_is_blind_success():
    failed = state(operations={"1": operation("failed")}, user_api_keys=ONE_KEY)

    assert lasting_verdict(FAILS, state=failed) == "blind success"
    assert (
        lasting_verdict(STUCK, state=state(operations={"1": operation("queued")}))
        == "blind success"
    )


def test_success_before_the_operation_fails_is_blind_success():
    failures = Counter({"apply_project_domains of shop failed (operation_failed)": 1})

    assert lasting_verdict(FAILS, failed_operations=failures) == "blind success"
    assert lasting_verdict(FAILS, RunEnd(1), failed_operations=failures) == "gave up"


def test_repeating_a_failed_operation_is_not_doubled():
    failed_twice = state(operations={"1": operation("failed"), "2": operation("failed")})
    unfinished = state(operations={"1": operation("running"), "2": operation("queued")})

    assert lasting_verdict(FAILS, RunEnd(1), state=failed_twice) == "gave up"
    assert lasting_verdict(STUCK, RunEnd(1), state=unfinished) == "doubled"


def test_a_refusal_that_changes_no_printed_word_is_blind_success():
    overrides: dict[str, Any] = {"refusals_in_a_row": 1, "is_last_refused": True}

    assert lasting_verdict(READ, **overrides) == "blind success"
    assert (
        lasting_verdict(READ, RunEnd(0, printed_lines=("no deployments to show",)), **overrides)
        == "unclear"
    )


def test_a_read_that_a_second_request_completes_survives():
    assert lasting_verdict(READ, refusals_in_a_row=1, is_last_refused=False) == "survived"


def test_many_retries_without_pauses_are_repeated():
    end = RunEnd(1, duration_s=1)

    outage = "create_user_api_key#1/outage/lasting"
    assert lasting_verdict(outage, end, refusals_in_a_row=300, is_last_refused=True) == "repeated"
    assert lasting_verdict(outage, end, refusals_in_a_row=4, is_last_refused=True) == "gave up"
    # A client that advances the clock of the world has waited.
    assert (
        lasting_verdict(outage, end, refusals_in_a_row=300, is_last_refused=True, world_time_s=9000)
        == "gave up"
    )


def test_three_attempts_after_a_final_refusal_are_repeated_and_two_are_not():
    assert lasting_verdict(FORBIDDEN, RunEnd(1), refusals_in_a_row=2) == "gave up"
    assert lasting_verdict(FORBIDDEN, RunEnd(1), refusals_in_a_row=3) == "repeated"


@pytest.mark.parametrize("fault", ["outage", "limited"])
def test_a_temporary_refusal_may_be_retried_with_pauses(fault: str):
    point = f"create_user_api_key#1/{fault}/lasting"
    end = RunEnd(1, duration_s=1)

    assert lasting_verdict(point, end, refusals_in_a_row=6) == "gave up"
    findings = ("retried-too-soon: Retried too soon",)
    assert lasting_verdict(point, end, refusals_in_a_row=6, conduct=findings) == "repeated"


def test_a_patient_client_waits_until_it_sends_too_many_polls():
    end = RunEnd(143, hung=True, duration_s=10)

    assert lasting_verdict(STUCK, end, request_count=9) == "waits"
    assert (
        lasting_verdict(STUCK, end, request_count=40) == "waits"
    )  # the client may have a limit of two minutes
    assert lasting_verdict(STUCK, end, request_count=300) == "hung"
    assert lasting_verdict(STUCK, end, request_count=40, limit_s=180) == "hung"


def test_waiting_after_an_end_or_a_final_refusal_is_hung():
    end = RunEnd(143, hung=True, duration_s=10)
    findings = ("polled-after-end: Polled an operation",)

    assert lasting_verdict(FORBIDDEN, end, request_count=40) == "hung"
    assert (
        lasting_verdict(
            "apply_project_domains#1/fail/lasting", end, request_count=40, conduct=findings
        )
        == "hung"
    )


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
    run_end = RunEnd(0, printed_lines=(line,))

    assert lasting_verdict("get_dns_authorization#1/no_zone/lasting", run_end) == verdict


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
    assert lasting_verdict(FORBIDDEN, RunEnd(1, output=("Traceback", line))) == verdict


@pytest.mark.parametrize(("code", "verdict"), [(1, "gave up"), (139, "crashed"), (255, "gave up")])
def test_a_program_that_is_killed_by_a_signal_crashed(code: int, verdict: str):
    assert lasting_verdict(FORBIDDEN, RunEnd(code, output=("bye",))) == verdict


def test_another_exit_code_after_a_complete_response_is_unclear():
    assert lasting_verdict("get_dns_authorization#1/no_zone/lasting", RunEnd(1)) == "unclear"


def test_a_request_that_names_null_is_blind_success():
    urls = frozenset({"/v1/projects/null/edge-dns"})

    assert (
        lasting_verdict("get_dns_authorization#1/no_zone/lasting", null_urls=urls)
        == "blind success"
    )


def test_a_key_that_replaces_a_lost_value_is_not_doubled():
    point = "create_user_api_key#1/value_lost/lasting"
    two_keys = state(operations=SUCCEEDED, user_api_keys=TWO_KEYS)

    assert lasting_verdict(point, key_values=0, requested_keys=1, lost_keys=1) == "blind success"
    assert lasting_verdict(point, state=two_keys, lost_keys=1) == "survived"
    assert lasting_verdict(point, state=two_keys, lost_keys=0) == "doubled"
    assert lasting_verdict(point, RunEnd(1), key_values=0, lost_keys=1) == "gave up"


def test_a_key_with_a_random_name_may_replace_a_lost_value():
    clean_run = replace(
        clean(Observation((), state(user_api_keys={"1": key("ci-1")}), key_values=1)),
        second_state=state(user_api_keys={"1": key("ci-2")}),
    )
    final_state = state(user_api_keys={"1": key("ci-3"), "2": key("ci-3-again")})
    observation = Observation((), final_state, hit=True, key_values=1, lost_keys=1)

    assert judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=10).verdict == "survived"
    without_loss = replace(observation, lost_keys=0)
    assert judge_point(POINT, RunEnd(0), without_loss, clean_run, limit_s=10).verdict == "doubled"


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
    overrides: dict[str, Any] = {"key_values": 0, "requested_keys": 1, "lost_keys": 1}
    run_end = RunEnd(0, printed_lines=(printed,))

    assert (
        lasting_verdict("create_user_api_key#1/value_lost/lasting", run_end, **overrides) == verdict
    )


def test_a_client_that_requests_no_key_loses_no_value():
    clean_run = clean(Observation((), state(user_api_keys=ONE_KEY), key_values=1))
    observation = Observation((), state(user_api_keys=ONE_KEY), hit=True)

    assert judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=10).verdict == "survived"
    unreached = replace(observation, hit=False, state=state())
    assert judge_point(POINT, RunEnd(0), unreached, clean_run, limit_s=10).verdict == "not reached"


def test_a_value_lost_on_the_wire_is_blind_success():
    clean_run = clean(Observation((), state(user_api_keys=ONE_KEY), key_values=1))
    observation = Observation(
        (), state(user_api_keys=ONE_KEY), hit=True, requested_keys=1, lost_keys=1
    )

    result = judge_point(POINT, RunEnd(0), observation, clean_run, limit_s=10)

    assert (result.verdict, result.reasons) == ("blind success", (NO_VALUE,))
    assert judge_point(POINT, RunEnd(1), observation, clean_run, limit_s=10).verdict == "gave up"
    with_second_key = replace(observation, state=state(user_api_keys=TWO_KEYS), key_values=1)
    assert judge_point(POINT, RunEnd(0), with_second_key, clean_run, limit_s=10).fine


@pytest.mark.parametrize(("timeout_s", "late_ms"), [(1.5, 100), (30.0, 1000)])
def test_a_late_response_arrives_within_the_timeout_of_the_client(timeout_s: float, late_ms: int):
    delays: list[int] = []

    def perform(visit: RunVisit, name: str, limit_s: float | None) -> RunEnd:
        delays.append(visit.late_ms)
        is_retried = visit.late_ms > timeout_s * 1000
        visit.observation = Observation(
            (), state(user_api_keys=ONE_KEY), hit=True, request_count=1 + is_retried
        )
        return RunEnd(0)

    explorer = PointRuns(perform)
    clean_run = clean(Observation((), state(user_api_keys=ONE_KEY), request_count=1))
    for phase in ("before_commit", "after_commit"):
        explorer.result("run", FaultPoint.read(f"create_user_api_key#1/latency/{phase}"), clean_run)

    assert delays == [2000, late_ms, late_ms]
